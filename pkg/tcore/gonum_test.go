package tcore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

func ExampleMachine_Mul() {
	a := mat.NewDense(1, 4, []float64{0x1p11, 0x1p11, 0.5, 0.25})
	b := mat.NewDense(4, 1, []float64{0x1p12, -0x1p12, -1, -1})
	var d mat.Dense
	for _, device := range []tcore.Device{devices.VoltaF16(), devices.HopperF16()} {
		tcore.Machine{Device: device}.Mul(&d, a, b)
		fmt.Println(d.At(0, 0))
	}
	// Output:
	// 0
	// -0.75
}

// blas32.Gemm multiplies as a Volta does, until the original implementation is
// restored.
func ExampleBLAS() {
	defer blas32.Use(blas32.Implementation())
	blas32.Use(tcore.BLAS{Machine: tcore.Machine{Device: devices.VoltaF16()}})
	x := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0x1p11, 0x1p11, 0.5, 0.25}}
	y := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0x1p12, -0x1p12, -1, -1}}
	z := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, y, 0, z)
	fmt.Println(z.Data[0])
	// Output:
	// 0
}

func ExampleBLAS_Sgemm() {
	machine := tcore.BLAS{Machine: tcore.Machine{Device: devices.HopperF16()}}
	c := []float32{1}
	machine.Sgemm(blas.NoTrans, blas.Trans, 1, 1, 2, 1, []float32{2, 3}, 2, []float32{4, 5}, 2, 10, c, 1)
	fmt.Println(c)
	// Output:
	// [33]
}

// Mul and Sgemm return the same product as GEMM, for all strides and
// transposes.
func TestDoorsOfGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	machine := tcore.Machine{Device: devices.AmpereF16(), SplitK: 2, Output: tcore.BFloat16}
	const m, n, k = 3, 5, 40
	random := func(rows, cols int) blas32.General {
		z := blas32.General{Rows: rows, Cols: cols, Stride: cols + 2, Data: make([]float32, rows*(cols+2))}
		for i := range z.Data {
			z.Data[i] = float32(r.NormFloat64())
		}
		return z
	}
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
		for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			a, b, c := random(m, k), random(k, n), random(m, n)
			if tA != blas.NoTrans {
				a = random(k, m)
			}
			if tB != blas.NoTrans {
				b = random(n, k)
			}
			want := random(m, n)
			plain := tA
			if tA == blas.ConjTrans {
				plain = blas.Trans
			}
			machine.GEMM(plain, tB, 2, a, b, 3, c, want)
			tcore.BLAS{Machine: machine}.Sgemm(tA, tB, m, n, k, 2, a.Data, a.Stride, b.Data, b.Stride, 3, c.Data, c.Stride)
			for i := range m {
				for j := range n {
					if got, w := c.Data[i*c.Stride+j], want.Data[i*want.Stride+j]; got != w {
						t.Fatalf("%c%c: (%d, %d) = %v, want %v", tA, tB, i, j, got, w)
					}
				}
			}
		}
	}
	a, b, want := random(m, k), random(k, n), random(m, n)
	machine.GEMM(blas.NoTrans, blas.Trans, 1, a, transposed(b), 0, blas32.General{}, want)
	dense := func(x blas32.General) *mat.Dense {
		z := mat.NewDense(x.Rows, x.Cols, nil)
		z.Apply(func(i, j int, _ float64) float64 { return float64(x.Data[i*x.Stride+j]) }, z)
		return z
	}
	var d mat.Dense
	machine.Mul(&d, dense(a), dense(transposed(b)).T())
	if !mat.Equal(&d, dense(want)) {
		t.Errorf("Mul: %v, want %v", mat.Formatted(&d), mat.Formatted(dense(want)))
	}
	square := dense(random(k, k))
	for name, call := range map[string]func(){
		"tcore: Mul: dst is 3 × 5, want 3 × 40":       func() { machine.Mul(&d, dense(a), square) },
		"tcore: Mul: b is 0 × 0, want at least 1 × 1": func() { machine.Mul(&d, dense(a), new(mat.Dense)) },
		"tcore: GEMM: a has 40 columns, b has 5 rows": func() { machine.Mul(&d, dense(a), dense(b).T()) },
		"tcore: GEMM: a has 119 elements, want at least": func() {
			tcore.BLAS{Machine: machine}.Sgemm('N', 'N', 3, 1, 40, 1, make([]float32, 119), 40, make([]float32, 40), 1, 0, make([]float32, 3), 1)
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, name) {
					t.Errorf("panic %q, want %q", got, name)
				}
			}()
			call()
		}()
	}
}

func transposed(m blas32.General) blas32.General {
	z := blas32.General{Rows: m.Cols, Cols: m.Rows, Stride: m.Rows, Data: make([]float32, m.Rows*m.Cols)}
	for i := range m.Rows {
		for j := range m.Cols {
			z.Data[j*z.Stride+i] = m.Data[i*m.Stride+j]
		}
	}
	return z
}
