package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

const seed = 241118747

// eachUnit calls test with every unit of the processor, and skips if there is
// none.
func eachUnit(t *testing.T, test func(t *testing.T, u *cpu.Unit)) {
	list := cpu.Instructions()
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

func matrixOf(r *rand.Rand, rows, cols, beyond int, draw func() float32) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols + beyond, Data: make([]float32, rows*(cols+beyond))}
	for i := range m.Data {
		m.Data[i] = draw()
	}
	return m
}

// Dot products of the processor have the bits of the emulation, payloads of NaN
// and signs of zeros included, in all regimes.
func TestDots(t *testing.T) {
	products := 640000
	if testing.Short() {
		products /= 16
	}
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		d, k, nan, zero := u.Device(), u.K(), 0, 0
		n := products / k
		s := probe.NewSampler(d, seed)
		x, y, c, got := make([]uint64, n*k), make([]uint64, n*k), make([]uint64, n), make([]uint64, n)
		for i := range n {
			c[i] = s.Draw(i%len(probe.Regimes), x[i*k:(i+1)*k], y[i*k:(i+1)*k])
		}
		if err := u.Dots(context.Background(), x, y, c, got); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := d.DotCodes(x[i*k:(i+1)*k], y[i*k:(i+1)*k], c[i])
			if got[i] != want {
				t.Fatalf("%s: %#x · %#x + %#x = %#x, want %#x", probe.Regimes[i%len(probe.Regimes)], x[i*k:(i+1)*k], y[i*k:(i+1)*k], c[i], got[i], want)
			}
			if v := d.C.Decode(want); v != v {
				nan++
			} else if v == 0 {
				zero++
			}
		}
		if nan < n/100 || zero < n/50 {
			t.Errorf("%d NaN and %d zeros of %d, want more", nan, zero, n)
		}
	})
}

// Grids have the results of single dot products, in sizes around a tile.
func TestGrid(t *testing.T) {
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		k, s := u.K(), probe.NewSampler(u.Device(), seed)
		for i, size := range [][2]int{{1, 1}, {15, 17}, {16, 16}, {33, 5}, {3, 48}, {40, 40}, {0, 3}, {2, 0}} {
			m, n := size[0], size[1]
			draw := func(n int) []uint64 {
				x, y := make([]uint64, n*k), make([]uint64, n*k)
				s.Draw(i%len(probe.Regimes), x, y)
				return x
			}
			x, y, c := draw(m), draw(n), make([]uint64, m*n)
			wideX, wideY := []uint64{}, []uint64{}
			for e := range c {
				c[e] = s.Draw(e%len(probe.Regimes), nil, nil)
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
	})
}

func TestDotsStopsWithItsContext(t *testing.T) {
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		x := make([]uint64, u.K())
		if err := u.Dots(ctx, x, x, x[:1], make([]uint64, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that it was cancelled", err)
		}
		if err := u.Grid(ctx, x, x, x[:1], make([]uint64, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that it was cancelled", err)
		}
	})
}

// Products have the bits of the emulated machine.
func TestGEMM(t *testing.T) {
	eachUnit(t, func(t *testing.T, u *cpu.Unit) { tcoretest.GEMMer(t, u, tcore.Machine{Device: u.Device()}) })
}

// So do those of sizes around a tile and longer than one call, of subnormal,
// huge and special elements; what lies beyond a row is not touched.
func TestGEMM_of_difficult_matrices(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {1, 1, 2}, {15, 17, 31}, {16, 16, 32}, {17, 33, 33}, {3, 2, 4097}, {2, 3, 8225}, {33, 65, 300}, {64, 32, 256}, {40, 64, 513}}
	if !testing.Short() { // more than one block of tiles
		sizes = append(sizes, [][3]int{{300, 67, 300}, {70, 600, 257}, {256, 512, 256}}...)
	}
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-40, -1e-40, 0x1p-126, 3e38, -3e38, 0x1p-63, -0x1p-63, float32(math.Inf(1)), float32(math.NaN())}
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, size := range sizes {
			for kinds := range 3 { // ordinary, finite, all
				draw := func() float32 {
					if kinds > 0 && r.IntN(8) == 0 {
						return special[r.IntN(len(special)-2*(2-kinds))]
					}
					return float32(math.Ldexp(r.NormFloat64(), -70*kinds*r.IntN(2)))
				}
				m, n, k := size[0], size[1], size[2]
				a, b := matrixOf(r, m, k, 1, draw), matrixOf(r, k, n, 2, draw)
				got := matrixOf(r, m, n, 3, func() float32 { return 7 })
				want := blas32.General{Rows: m, Cols: n, Stride: got.Stride, Data: append([]float32(nil), got.Data...)}
				u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
				tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
				for i, v := range want.Data {
					if w := got.Data[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
						t.Fatalf("%d × %d × %d, kinds %d, element %d: %v, want %v", m, k, n, kinds, i, w, v)
					}
				}
			}
		}
	})
}

// Sums of -0, which products that are flushed to it leave, keep their sign
// whatever the length, of which the instructions may take a part.
func TestGEMM_of_negative_zeros(t *testing.T) {
	values := []float32{0x1p-70, -0x1p-70, 0, float32(math.Copysign(0, -1))}
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		r, zeros := rand.New(rand.NewPCG(seed, 4)), 0
		defer func() { t.Logf("%d sums of -0", zeros) }()
		for k := 1; k <= 70; k++ {
			a := matrixOf(r, 33, k, 1, func() float32 { return values[r.IntN(4)] })
			b := matrixOf(r, k, 17, 1, func() float32 { return 0x1p-70 })
			for i := range a.Rows { // a last product that is flushed to -0, or -0 itself, which leaves +0
				a.Data[i*a.Stride+k-1] = []float32{-0x1p-70, values[3]}[i%2]
			}
			got, want := matrixOf(r, 33, 17, 0, r.Float32), matrixOf(r, 33, 17, 0, r.Float32)
			u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
			tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
			for i, v := range want.Data {
				if w := got.Data[i]; math.Float32bits(v) != math.Float32bits(w) {
					t.Fatalf("K = %d, element %d: %v, want %v", k, i, w, v)
				}
				if v == 0 && math.Signbit(float64(v)) {
					zeros++
				}
			}
		}
	})
}

// Products of nothing but what is special, in every combination, have the bits
// of the emulated machine, NaN aside.
func TestGEMM_of_special_values_alone(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := map[string][]float32{"NaN": {nan}, "infinities": {inf, -inf}, "one infinity": {inf}, "all": {nan, inf, -inf, 0, 1},
		"zeros and infinities": {0, inf}, "negative zeros": {float32(math.Copysign(0, -1))}, "huge": {math.MaxFloat32, -math.MaxFloat32}}
	test := func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 3))
		for name, values := range tests {
			draw := func() float32 { return values[r.IntN(len(values))] }
			for _, k := range []int{1, 2, 65} {
				a, b := matrixOf(r, 33, k, 1, draw), matrixOf(r, k, 17, 1, draw)
				got, want := matrixOf(r, 33, 17, 0, draw), matrixOf(r, 33, 17, 0, draw)
				u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
				tcore.Machine{Device: u.Device()}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, want)
				for i, v := range want.Data {
					if w := got.Data[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
						t.Fatalf("%s, K = %d, element %d: %v, want %v", name, k, i, w, v)
					}
				}
			}
		}
	}
	eachUnit(t, test)
	eachInteger(t, test)
}

// No dot products, and no vectors of a grid, are no mistake.
func TestDots_of_nothing(t *testing.T) {
	test := func(t *testing.T, u *cpu.Unit) {
		if err := errors.Join(u.Dots(t.Context(), nil, nil, nil, nil), u.Grid(t.Context(), nil, nil, nil, nil)); err != nil {
			t.Error(err)
		}
	}
	eachUnit(t, test)
	eachInteger(t, test)
}

// Goroutines that multiply at once, garbage collections, changes of GOMAXPROCS
// and a profile's signals spoil no product; each goroutine multiplies until
// they are over, and some times at least.
func TestGEMM_is_not_disturbed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var profile strings.Builder
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Logf("no profile: %v", err)
	} else {
		defer pprof.StopCPUProfile()
	}
	k, rounds := 3000, 20
	if testing.Short() {
		rounds = 4
		if runtime.GOARCH == "arm64" { // perhaps emulated: a collection waits for all products, which take a second
			k, rounds = 400, 1
		}
	}
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 2))
		draw := func() float32 { return float32(r.NormFloat64()) }
		a, b := matrixOf(r, 48, k, 0, draw), matrixOf(r, k, 64, 0, draw)
		want := blas32.General{Rows: 48, Cols: 64, Stride: 64, Data: make([]float32, 48*64)}
		u.Device().MultiplyAdd(a, b, blas32.General{}, want)
		var wait sync.WaitGroup
		var calm atomic.Bool
		for range 16 {
			wait.Go(func() {
				for round := 0; round < rounds || !calm.Load(); round++ {
					got := blas32.General{Rows: 48, Cols: 64, Stride: 64, Data: make([]float32, 48*64)}
					u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
					for i, v := range want.Data {
						if got.Data[i] != v {
							t.Errorf("element %d: %v, want %v", i, got.Data[i], v)
							return
						}
					}
				}
			})
		}
		for i := range max(16, 4*rounds) {
			runtime.GOMAXPROCS(1 + i%3)
			runtime.GC()
		}
		calm.Store(true)
		wait.Wait()
	})
}

// Where the processor lacks an instruction, Open says so in a sentence.
func TestOpen_without_a_unit(t *testing.T) {
	if os.Getenv("CPU_TEST_NONE") != "" {
		for _, d := range append(devices.Integers(), devices.AMXBF16(), devices.AVX512BF16(), devices.AVX512F16()) {
			if u, err := cpu.Open(d); u != nil || !errors.Is(err, cpu.ErrNoMatrixUnit) {
				t.Errorf("%s: %v, want none", d.Name, err)
			}
		}
		if list := append(cpu.Instructions(), cpu.Integers()...); len(list) > 0 {
			t.Errorf("%d instructions, want none", len(list))
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOpen_without_a_unit$|^TestGEMM$|^TestDots$|^TestIntegerDots$")
	cmd.Env = append(os.Environ(), "CPU_TEST_NONE=1", "GODEBUG=cpu.amxbf16=off,cpu.amxint8=off,cpu.avx512bf16=off,cpu.avx512fp16=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A device that is not the instruction itself has no unit.
func TestOpen_of_another_device(t *testing.T) {
	changed := devices.AMXBF16()
	changed.Core = tcore.EvenOdd{Terms: 16}
	for _, d := range []tcore.Device{devices.HopperF16(), changed, {}} {
		if u, err := cpu.Open(d); u != nil || !errors.Is(err, cpu.ErrNoMatrixUnit) {
			t.Errorf("%q: %v, want no unit", d.Name, err)
		}
	}
}

func TestPanics(t *testing.T) {
	says := func(want string, f func()) {
		t.Helper()
		defer func() {
			if got := recover(); got != want {
				t.Errorf("panic %v, want %v", got, want)
			}
		}()
		f()
	}
	says("cpu: GEMM: a unit that was not opened, want one of Open", func() {
		new(cpu.Unit).GEMM(blas.NoTrans, blas.NoTrans, 1, blas32.General{}, blas32.General{}, 0, blas32.General{}, blas32.General{})
	})
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		one := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}}
		wide := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}}
		gemm := func(tA blas.Transpose, a, b blas32.General, beta float32, c, d blas32.General) func() {
			return func() { u.GEMM(tA, blas.NoTrans, 1, a, b, beta, c, d) }
		}
		x := make([]uint64, u.K())
		says(fmt.Sprintf("cpu: Grid: x, y, c, d have %d, %d, 1, 0 elements, want mK, nK, mn, mn with K = %d", len(x), len(x), len(x)), func() {
			u.Grid(t.Context(), x, x, x[:1], nil)
		})
		says("cpu: GEMM: a has 2 columns, b has 1 rows", gemm(blas.NoTrans, wide, one, 0, one, one))
		says("cpu: GEMM: d is 1 × 2, want 1 × 1", gemm(blas.NoTrans, one, one, 0, one, wide))
		says("cpu: GEMM: c is 1 × 2, want 1 × 1", gemm(blas.NoTrans, one, one, 1, wide, one))
		says("cpu: GEMM: a is 0 × 0, want at least 1 × 1", gemm(blas.NoTrans, blas32.General{}, one, 0, one, one))
		high := blas32.General{Rows: 2, Stride: 1, Data: []float32{1, 2}} // K = 0
		says("cpu: GEMM: a is 2 × 0, want at least 1 × 1", gemm(blas.NoTrans, high, blas32.General{Cols: 2, Stride: 2}, 0, one, one))
		says("cpu: GEMM: a has stride 1, want at least its 2 columns", gemm(blas.NoTrans, blas32.General{Rows: 1, Cols: 2, Stride: 1, Data: []float32{1, 2}}, one, 0, one, one))
		says("cpu: GEMM: a has 1 elements, want at least 2", gemm(blas.NoTrans, blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1}}, one, 0, one, one))
		says("cpu: GEMM: tA = C, want NoTrans or Trans", gemm(blas.ConjTrans, one, one, 0, one, one))
	})
}
