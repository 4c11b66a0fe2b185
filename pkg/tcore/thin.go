package tcore

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
)

// thinProduct is the product of a matrix by a few columns, at most half as many
// as a dotAdd has lanes. It is computed as (BᵀAᵀ)ᵀ, which is the same sums of
// the same products, so that the lanes are rows of A.
type thinProduct struct {
	a          blas32.General
	transposed *dotAddProduct // Bᵀ by as many rows of A as a panel has columns
}

// newThinProduct prepares b. It returns false if there is no kernel for d, b
// has too many columns or a too few rows.
func newThinProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	f, ok := d.Core.(Fused)
	if !ok {
		return nil, false
	}
	swapped := *d
	swapped.A, swapped.B = d.B, d.A
	kernel, ok := f.dotAddKernel(&swapped, false)
	if !ok || 2*b.Cols > kernel.columns || a.Rows < kernel.columns {
		return nil, false
	}
	p, ok := newDotAdd(&swapped, swapped.numbers(d.B, matrix.Transpose(b)), kernel.columns, false)
	if ok {
		parallel.Loops(p.packRows())
	}
	return &thinProduct{a, p}, ok
}

// addTo stores C + AB in z.
func (p *thinProduct) addTo(c, z blas32.General) {
	columns := p.transposed.kernel.columns
	parallel.Ranges((p.a.Rows+columns-1)/columns, func(lo, hi int) {
		w := *p.transposed
		w.getColumns()
		defer w.releaseColumns()
		rows := dotAddScratch.rows.get(w.depth * columns)
		defer dotAddScratch.rows.put(rows)
		sums := make([]float32, w.groups()*w.rows*columns)
		for i := lo * columns; i < min(hi*columns, p.a.Rows); i += columns {
			w.n = min(columns, p.a.Rows-i)
			w.packTransposed(matrix.Rows(p.a, i, i+w.n), rows)
			p.load(sums, c, i, w.n)
			w.rectangle(sums, columns, 0, w.groups()*w.rows, 0, columns)
			for j := range w.m {
				for r, v := range sums[j*columns:][:w.n] {
					z.Data[(i+r)*z.Stride+j] = v
				}
			}
		}
	})
}

func (p *thinProduct) release() { p.transposed.releaseRows() }

// load stores n rows of c, from row i on, as the rows of sums. It stores zeros
// if there is no c.
func (p *thinProduct) load(sums []float32, c blas32.General, i, n int) {
	clear(sums)
	if c.Data == nil {
		return
	}
	columns := p.transposed.kernel.columns
	for j := range p.transposed.m {
		for r := range n {
			sums[j*columns+r] = float32(p.transposed.d.C.Round(float64(c.Data[(i+r)*c.Stride+j]), ToNearestEven))
		}
	}
}

// packTransposed packs the columns of aᵀ, at most one panel. rows is memory
// that it overwrites.
func (p *dotAddProduct) packTransposed(a blas32.General, rows []float32) {
	const few = 8 // rows of a whose elements lie side by side in aᵀ
	var x [few][dotAddDepth]float32
	emin := make([]uint32, p.columns)
	for i := range emin {
		emin[i] = exponentBits(p.d.B.Emin)
	}
	clear(p.rareY)
	clear(rows)
	for lo := 0; lo < p.k; lo += dotAddDepth {
		n := max(0, min(dotAddDepth, a.Cols-lo))
		for i := 0; i < a.Rows; i += few {
			for r := range x {
				length := 0
				if i+r < a.Rows {
					length = n
					p.d.convertRow(x[r][:n], matrix.Row(a, i+r)[lo:lo+n], p.d.B)
				}
				clear(x[r][length:])
			}
			for k := range dotAddDepth {
				z := rows[k*p.columns+i:][:few]
				z[0], z[1], z[2], z[3] = x[0][k], x[1][k], x[2][k], x[3][k]
				z[4], z[5], z[6], z[7] = x[4][k], x[5][k], x[6][k], x[7][k]
			}
		}
		p.packPanel(0, lo, min(dotAddDepth, p.k-lo), rows, p.columns, emin)
	}
}
