package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// eachInteger calls test with every unit of integers, and skips if there is
// none.
func eachInteger(t *testing.T, test func(t *testing.T, u *cpu.Unit)) {
	list := cpu.Integers()
	if len(list) == 0 {
		t.Skip("this processor has none of the instructions, or may not use them")
	}
	for _, d := range list {
		u, err := cpu.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(d.Name, func(t *testing.T) { test(t, u) })
	}
}

// byteCode returns a code, every other time one of 0, ±1 and the extremes.
func byteCode(r *rand.Rand) uint8 {
	if r.IntN(2) == 0 {
		return []uint8{0, 1, 127, 128, 255}[r.IntN(5)]
	}
	return uint8(r.Uint32())
}

// Dot products of integers have the bits of the emulation, also where they pass
// 2^31, for any number of them.
func TestIntegerDots(t *testing.T) {
	n := 20001
	if testing.Short() {
		n = 5001
	}
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		d, k, wrapped := u.Device(), u.K(), 0
		r := rand.New(rand.NewPCG(seed, 4))
		x, y, c, got := make([]uint64, n*k), make([]uint64, n*k), make([]uint64, n), make([]uint64, n)
		for i := range x {
			x[i], y[i] = uint64(byteCode(r)), uint64(byteCode(r))
		}
		for i := range c {
			c[i] = uint64(r.Uint32())
			if i%2 == 0 {
				c[i] = (1<<31 + uint64(r.IntN(1<<18)) - 1<<17) // near the ends of int32
			}
		}
		if err := u.Dots(context.Background(), x, y, c, got); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			a, b := x[i*k:(i+1)*k], y[i*k:(i+1)*k]
			if want := d.DotCodes(a, b, c[i]); got[i] != want {
				t.Fatalf("%#x · %#x + %#x = %#x, want %#x", a, b, c[i], got[i], want)
			}
			exact := d.C.Decode(c[i])
			for l := range a {
				exact += d.A.Decode(a[l]) * d.B.Decode(b[l])
			}
			if exact != d.C.Decode(got[i]) {
				wrapped++
			}
		}
		if wrapped < n/100 {
			t.Errorf("%d of %d sums are beyond int32, want more", wrapped, n)
		}
	})
}

// Grids have the results of single dot products, in sizes around a tile, also
// where they pass 2^31.
func TestGridOfIntegers(t *testing.T) {
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		k, r := u.K(), rand.New(rand.NewPCG(seed, 8))
		codes := func(n int) []uint64 {
			z := make([]uint64, n)
			for i := range z {
				z[i] = uint64(byteCode(r))
			}
			return z
		}
		for _, size := range [][2]int{{1, 1}, {31, 33}, {32, 32}, {65, 5}, {3, 64}, {40, 40}, {0, 3}, {2, 0}} {
			m, n := size[0], size[1]
			x, y, c := codes(m*k), codes(n*k), make([]uint64, m*n)
			wideX, wideY := []uint64{}, []uint64{}
			for e := range c {
				c[e] = 1<<31 + uint64(r.IntN(1<<20)) - 1<<19
				wideX, wideY = append(wideX, x[e/n*k:][:k]...), append(wideY, y[e%n*k:][:k]...)
			}
			got, want := make([]uint64, m*n), make([]uint64, m*n)
			if err := errors.Join(u.Grid(t.Context(), x, y, c, got), u.Dots(t.Context(), wideX, wideY, c, want)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d × %d: %#x, want %#x", m, n, got, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		x := make([]uint64, k)
		if err := u.Grid(ctx, x, x, x[:1], make([]uint64, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that it was cancelled", err)
		}
	})
}

// codesOf returns a matrix of codes.
func codesOf(r *rand.Rand, rows, cols int) tcore.Codes {
	m := tcore.Codes{Rows: rows, Cols: cols, Data: make([]uint8, rows*cols)}
	for i := range m.Data {
		m.Data[i] = byteCode(r)
	}
	return m
}

// integerProduct returns AB modulo 2^32, element by element.
func integerProduct(d tcore.Device, a, b tcore.Codes) []int32 {
	number := func(f tcore.Format, code uint8) int32 {
		if f.Equal(tcore.INT8) {
			return int32(int8(code))
		}
		return int32(code)
	}
	z := make([]int32, a.Rows*b.Cols)
	for i := range a.Rows {
		for l := range a.Cols {
			x := number(d.A, a.Data[i*a.Cols+l])
			for j := range b.Cols {
				z[i*b.Cols+j] += x * number(d.B, b.Data[l*b.Cols+j])
			}
		}
	}
	return z
}

// Products of codes are sums of integers modulo 2^32, of any shape.
func TestMultiplyCodes(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {1, 1, 2}, {15, 17, 31}, {32, 32, 64}, {33, 31, 65}, {3, 2, 4097}, {2, 1, 1 << 18}, {300, 67, 200}, {70, 600, 513}, {64, 64, 512}, {40, 64, 1025}}
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 5))
		for _, size := range sizes {
			a, b := codesOf(r, size[0], size[2]), codesOf(r, size[2], size[1])
			if a.Cols == 1<<18 { // all of the greatest magnitude
				for i := range b.Data {
					a.Data[i], b.Data[i] = 255, 255
					if u.Device().A.Equal(tcore.INT8) {
						a.Data[i] = 128
					}
					if u.Device().B.Equal(tcore.INT8) {
						b.Data[i] = 128
					}
				}
			}
			got := make([]int32, a.Rows*b.Cols)
			u.MultiplyCodes(a, b, got)
			for i, want := range integerProduct(u.Device(), a, b) {
				if got[i] != want {
					t.Fatalf("%d × %d × %d, element %d: %d, want %d", a.Rows, a.Cols, b.Cols, i, got[i], want)
				}
			}
		}
	})
}

// Products of values have the bits of the emulated machine.
func TestGEMMOfIntegers(t *testing.T) {
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		machine := tcore.Machine{Device: u.Device()}
		tcoretest.GEMMer(t, u, machine)
		r := rand.New(rand.NewPCG(seed, 6))
		draw := func() float32 { return float32(200 * r.NormFloat64()) } // some saturate
		a, b, got := matrixOf(r, 33, 130, 1, draw), matrixOf(r, 130, 35, 2, draw), matrixOf(r, 33, 35, 3, draw)
		want := blas32.General{Rows: 33, Cols: 35, Stride: got.Stride, Data: append([]float32(nil), got.Data...)}
		u.GEMM(blas.NoTrans, blas.NoTrans, 1.25, a, b, 0.5, got, got)
		machine.GEMM(blas.NoTrans, blas.NoTrans, 1.25, a, b, 0.5, want, want)
		for i, v := range want.Data {
			if got.Data[i] != v {
				t.Fatalf("element %d: %v, want %v", i, got.Data[i], v)
			}
		}
	})
}

// Goroutines that multiply at once, on units of all kinds, garbage collections
// and changes of GOMAXPROCS spoil no product.
func TestMultiplyCodesIsNotDisturbed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	var wait sync.WaitGroup
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 7))
		a, b := codesOf(r, 100, 1000), codesOf(r, 1000, 70)
		want := integerProduct(u.Device(), a, b)
		for range 4 {
			wait.Go(func() {
				for range rounds {
					got := make([]int32, len(want))
					u.MultiplyCodes(a, b, got)
					for i, v := range want {
						if got[i] != v {
							t.Errorf("element %d: %v, want %v", i, got[i], v)
							return
						}
					}
				}
			})
		}
		for i := range 2 * rounds {
			runtime.GOMAXPROCS(1 + i%3)
			runtime.GC()
		}
		wait.Wait()
	})
}

func TestPanicsOfMultiplyCodes(t *testing.T) {
	says := func(want string, f func()) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("panic %v, want %v", got, want)
			}
		}()
		f()
	}
	one, wide := tcore.Codes{Rows: 1, Cols: 1, Data: []uint8{1}}, tcore.Codes{Rows: 1, Cols: 2, Data: []uint8{1, 2}}
	says("cpu: MultiplyCodes: a unit that was not opened", func() { new(cpu.Unit).MultiplyCodes(one, one, make([]int32, 1)) })
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		says("multiplies "+u.Device().A.Name+", want integers", func() { u.MultiplyCodes(one, one, make([]int32, 1)) })
	})
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		says("a is 1 × 2, b is 1 × 1", func() { u.MultiplyCodes(wide, one, make([]int32, 1)) })
		says("d has 1 elements, want 2", func() { u.MultiplyCodes(one, wide, make([]int32, 1)) })
		says("a is 0 × 1, want at least 1 × 1", func() { u.MultiplyCodes(tcore.Codes{Cols: 1}, one, nil) })
		says("a is 2 × 0, want at least 1 × 1", func() { u.MultiplyCodes(tcore.Codes{Rows: 2}, tcore.Codes{Cols: 3}, make([]int32, 6)) })
		says("b.Data has 0 elements, want 1", func() { u.MultiplyCodes(one, tcore.Codes{Rows: 1, Cols: 1}, make([]int32, 1)) })
		scaled := one
		scaled.Scales = []uint8{1}
		says("a has scales, want none", func() { u.MultiplyCodes(scaled, one, make([]int32, 1)) })
	})
}
