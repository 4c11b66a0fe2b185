package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// encoded returns the codes of m in f, which has from 9 to 16 bits.
func encoded(f tcore.Format, m blas32.General) tcore.Codes {
	z := tcore.Codes{Rows: m.Rows, Cols: m.Cols}
	for i := range m.Rows {
		for _, x := range m.Data[i*m.Stride:][:m.Cols] {
			z.Data16 = append(z.Data16, uint16(f.Encode(float64(x), tcore.ToNearestEven)))
		}
	}
	return z
}

// Products of codes have the bits of the emulated machine, NaN aside: of any
// codes, of sums that are flushed to -0, and in sizes around a tile.
func TestGEMMCodes(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {1, 1, 2}, {15, 17, 31}, {16, 16, 32}, {17, 33, 33}, {33, 65, 300}, {64, 32, 256}, {40, 64, 513}}
	if !testing.Short() { // more than one block of tiles
		sizes = append(sizes, [][3]int{{300, 67, 300}, {70, 600, 257}}...)
	}
	tiny := []float32{0x1p-70, -0x1p-70, 0, float32(math.Copysign(0, -1))}
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		d := u.Device()
		if d.A.Bits() != 16 {
			t.Skip("its factors have other than 16 bits")
		}
		r := rand.New(rand.NewPCG(seed, 12))
		machine := tcore.Machine{Device: d}
		negative := 0
		for _, size := range sizes {
			m, n, k := size[0], size[1], size[2]
			for kind, draw := range map[string]func() float32{
				"normal":       func() float32 { return float32(r.NormFloat64()) },
				"tiny":         func() float32 { return tiny[r.IntN(4)] },
				"of all codes": func() float32 { return float32(d.A.Decode(uint64(r.IntN(1 << 16)))) },
			} {
				a, b := encoded(d.A, matrixOf(r, m, k, 0, draw)), encoded(d.B, matrixOf(r, k, n, 0, draw))
				if kind == "tiny" { // a last product that is flushed to -0
					for i := range m {
						a.Data16[i*k+k-1] = uint16(d.A.Encode(-0x1p-70, tcore.ToNearestEven))
					}
					for j := range n {
						b.Data16[(k-1)*n+j] = uint16(d.B.Encode(0x1p-70, tcore.ToNearestEven))
					}
				}
				for _, scale := range [][2]float32{{1, 0}, {1, 0.25}, {-1.5, 0}} {
					c := matrixOf(r, m, n, 1, r.Float32)
					got, want := matrixOf(r, m, n, 2, r.Float32), matrixOf(r, m, n, 2, r.Float32)
					u.GEMMCodes(scale[0], a, b, scale[1], c, got)
					machine.GEMMCodes(scale[0], a, b, scale[1], c, want)
					for i := range m {
						for j := range n {
							v, w := want.Data[i*want.Stride+j], got.Data[i*got.Stride+j]
							if math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
								t.Fatalf("%s, %d × %d × %d, alpha, beta = %v: (%d, %d) = %v, want %v", kind, m, k, n, scale, i, j, w, v)
							}
							if v == 0 && math.Signbit(float64(v)) {
								negative++
							}
						}
					}
				}
			}
		}
		if negative == 0 && d.C.Equal(tcore.Binary32) {
			t.Error("no result is -0, want some")
		}
	})
}

// Products of integers are rounded to binary32, as those of GEMM.
func TestGEMMCodes_of_integers(t *testing.T) {
	eachInteger(t, func(t *testing.T, u *cpu.Unit) {
		r := rand.New(rand.NewPCG(seed, 13))
		a, b := codesOf(r, 5, 70), codesOf(r, 70, 3)
		got := matrixOf(r, 5, 3, 0, r.Float32)
		u.GEMMCodes(1, a, b, 0, blas32.General{}, got)
		for i, v := range integerProduct(u.Device(), a, b) {
			if got.Data[i] != float32(v) {
				t.Errorf("element %d: %v, want %d", i, got.Data[i], v)
			}
		}
	})
}

func TestPanicsOfGEMMCodes(t *testing.T) {
	says := func(want string, f func()) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("panic %v, want %v", got, want)
			}
		}()
		f()
	}
	none := blas32.General{}
	z := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	one, wide := tcore.Codes{Rows: 1, Cols: 1, Data16: []uint16{1}}, tcore.Codes{Rows: 1, Cols: 2, Data16: []uint16{1, 2}}
	says("cpu: GEMMCodes: a unit that was not opened", func() { new(cpu.Unit).GEMMCodes(1, one, one, 0, none, z) })
	eachUnit(t, func(t *testing.T, u *cpu.Unit) {
		if u.Device().A.Bits() != 16 {
			t.Skip("its factors have other than 16 bits")
		}
		says("a is 1 × 2, b is 1 × 1", func() { u.GEMMCodes(1, wide, one, 0, none, z) })
		says("d is 1 × 1, want 1 × 2", func() { u.GEMMCodes(1, one, wide, 0, none, z) })
		says("c is 1 × 1, want 1 × 2", func() {
			u.GEMMCodes(1, one, wide, 1, z, blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float32, 2)})
		})
		says("a is 0 × 1, want at least 1 × 1", func() { u.GEMMCodes(1, tcore.Codes{Cols: 1}, one, 0, none, z) })
		says("b.Data has 1 elements, want 0", func() { u.GEMMCodes(1, one, tcore.Codes{Rows: 1, Cols: 1, Data: []uint8{1}}, 0, none, z) })
		says("b.Data16 has 0 elements, want 1", func() { u.GEMMCodes(1, one, tcore.Codes{Rows: 1, Cols: 1}, 0, none, z) })
		scaled := one
		scaled.Scales = []uint8{1}
		says("a has scales, want none", func() { u.GEMMCodes(1, scaled, one, 0, none, z) })
	})
}

// Products of codes of bfloat16 are those of their numbers.
func ExampleUnit_GEMMCodes() {
	u, err := cpu.Open(devices.AVX512BF16())
	if err != nil {
		fmt.Println(5)
		return
	}
	f := u.Device().A
	row := tcore.Codes{Rows: 1, Cols: 2, Data16: []uint16{uint16(f.Encode(1, tcore.ToNearestEven)), uint16(f.Encode(2, tcore.ToNearestEven))}}
	column := tcore.Codes{Rows: 2, Cols: 1, Data16: row.Data16}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	u.GEMMCodes(1, row, column, 0, blas32.General{}, d)
	fmt.Println(d.Data[0])
	// Output: 5
}
