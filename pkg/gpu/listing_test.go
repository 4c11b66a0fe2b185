//go:build cgo && linux

package gpu

import (
	"errors"
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Package paper distinguishes several calls of cuBLAS; describe produces the
// one that is correct for row-major matrices.
func TestDescribe_is_the_right_call_for_rows(t *testing.T) {
	const m, k, n = 16, 64, 8 // no row needs padding
	a := blas32.General{Rows: m, Cols: k, Stride: k, Data: make([]float32, m*k)}
	b := blas32.General{Rows: k, Cols: n, Stride: n, Data: make([]float32, k*n)}
	d := blas32.General{Rows: m, Cols: n, Stride: n, Data: make([]float32, m*n)}
	p := newProduct(&Routine{A: tcore.Binary16, B: tcore.Binary16, C: tcore.Binary32}, blas.NoTrans, blas.NoTrans, 1, a, b, 0, d, d)
	got, want := p.describe(p.panel(m, n)), paper.GemmExCalls(m, k, n)[4]
	if got.M != want.M || got.N != want.N || got.K != want.K || got.LDA != want.LDA || got.LDB != want.LDB || got.LDD != want.LDC ||
		got.Alpha != uint64(want.Alpha) || got.TransA || got.TransB || !want.Swapped || got.Compute != cuda.Compute32 {
		t.Errorf("%v, alpha %#x, want %+v", got, got.Alpha, want)
	}
}

// The question whose answers are published is asked by rows without padding:
// all of them in 16 bits; in 8 bits both factors by columns, with K in a row.
func TestDescribe_by_rows(t *testing.T) {
	for _, c := range []struct {
		factors tcore.Format
		want    cuda.Product
	}{
		{tcore.Binary16, cuda.Product{RowA: true, RowB: true, RowD: true, M: 5, N: 3, K: 7, A: cuda.Real16, B: cuda.Real16, D: cuda.Real16,
			LDA: 7, LDB: 3, LDD: 3, Compute: cuda.Compute32, Alpha: 0x3f800000}},
		{tcore.E4M3, cuda.Product{TransA: true, RowD: true, M: 5, N: 3, K: 7, A: cuda.E4M3, B: cuda.E4M3, D: cuda.Real16,
			LDA: 7, LDB: 7, LDD: 3, Compute: cuda.Compute32, Alpha: 0x3f800000}},
	} {
		m := func(rows, cols int) blas32.General {
			return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		}
		k := &Routine{A: c.factors, B: c.factors, C: tcore.Binary32, Output: tcore.Binary16, Rows: true}
		p := newProduct(k, blas.NoTrans, blas.NoTrans, 1, m(5, 7), m(7, 3), 0, m(5, 3), m(5, 3))
		if got := p.describe(p.panel(5, 3)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.factors.Name, got, c.want)
		}
	}
}

// The fake of cuBLAS, which checks the bounds of memory, refuses the calls of
// the listing that exceed them and computes the others.
func TestListing_reads_and_writes_beyond_its_matrices(t *testing.T) {
	const m, k, n = 16, 64, 8
	g := open(t)
	defer g.Close()
	for i, call := range paper.GemmExCalls(m, k, n) {
		p := cuda.Product{M: call.M, N: call.N, K: call.K, A: cuda.Real16, B: cuda.Real16, D: cuda.Real32,
			LDA: call.LDA, LDB: call.LDB, LDD: call.LDC, Compute: cuda.Compute32, Alpha: uint64(call.Alpha)}
		err := g.device.Do(func() error {
			if err := g.openBLAS(); err != nil {
				return err
			}
			h := held{device: g.device}
			defer h.release()
			var at [4]cuda.Ptr
			for j, bytes := range []int{m * k * 2, k * n * 2, m * n * 4, 256} {
				var err error
				if at[j], err = h.memory(bytes); err != nil {
					return err
				}
			}
			if call.Swapped {
				at[0], at[1] = at[1], at[0]
			}
			return g.blas.GemmEx(p, at[0], at[1], at[2], at[3], 256, cuda.Stream{})
		})
		var e *cuda.Error
		if beyond := i < 2; beyond != (errors.As(err, &e) && e.Code == 13) || !beyond && err != nil {
			t.Errorf("%s: %v", call.Name, err)
		}
	}
}
