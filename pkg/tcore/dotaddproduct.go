package tcore

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// dotAddProduct is a matrix product computed by a dotAdd, with its operands
// prepared. k is K padded to whole blocks.
type dotAddProduct struct {
	tiling
	d      *Device
	f      Fused
	kernel dotAddKernel
	fused  *fusedKernel // computes sums out of the range of kernel; nil if there is none
	split  bool         // whether the sums of two blocks begin with zero and are added to c
	width  int          // terms of a block, or of two if split
	count  int          // of groups

	x     []uint32  // chunks of groups of rows of A, as packRows stores them
	rareX []uint16  // for a chunk of a group, what packRows returned
	y     []float32 // panels of B, as packColumns stores them
	rareY []uint64  // for a chunk of a panel, bit j: column j has an element out of range

	constants dotAddConstants
}

// dotAddDepth is the number of terms in one call of a dotAdd. The columns that
// it reads stay in the cache for the calls with all rows.
const dotAddDepth = 128

var (
	dotAddPath = newPath("aligned sums")
	rarePath   = newPath("aligned sums out of range")
)

// dotAddScratch recycles the memory of finished products.
var dotAddScratch struct {
	x    scratch[uint32]
	y    scratch[float32]
	rows scratch[float32]
}

func (p *dotAddProduct) release() {
	p.releaseRows()
	p.releaseColumns()
}

func (p *dotAddProduct) releaseRows()    { dotAddScratch.x.put(p.x) }
func (p *dotAddProduct) releaseColumns() { dotAddScratch.y.put(p.y) }

// newAlignedProduct prepares the operands of a product on a device whose sums
// are [Fused], or those of the instructions of a [Split]. It returns false if
// there is no kernel for d.
func newAlignedProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	switch core := d.Core.(type) {
	case Fused:
		plain := *d
		if core.Group == 0 {
			plain.ScaleBlock = 0 // scales of 1 change no exponent
		}
		if p, ok := newDotAddProduct(&plain, a, b); ok {
			return p, true
		}
	case Split:
		half := core.half(d)
		if _, ok := core.By.dotAddKernel(half, true); ok {
			x, y := d.splitTerms(core, a, b)
			defer splitScratch.put(x.Data)
			defer splitScratch.put(y.Data)
			p, _ := newDotAddRows(half, x, y.Cols, true)
			p.getColumns()
			p.packColumns(y)
			return p, true
		}
	}
	return nil, false
}

// newDotAddProduct prepares the operands. It returns false if there is no
// kernel for d.
func newDotAddProduct(d *Device, a, b blas32.General) (*dotAddProduct, bool) {
	p, ok := newDotAddRows(d, a, b.Cols, false)
	if ok {
		p.getColumns()
		p.packColumns(b)
	}
	return p, ok
}

// newDotAddRows prepares the rows of a product that has n columns, with the sums
// of a [Split] by d if split. It returns false if there is no kernel for d.
func newDotAddRows(d *Device, a blas32.General, n int, split bool) (*dotAddProduct, bool) {
	f, ok := d.Core.(Fused)
	if !ok {
		return nil, false
	}
	kernel, ok := f.dotAddKernel(d, split)
	if !ok {
		return nil, false
	}
	p := &dotAddProduct{d: d, f: f, kernel: kernel, split: split, width: f.Terms, constants: newDotAddConstants(&f, d),
		tiling: tiling{m: a.Rows, n: n, k: d.padded(a.Cols), rows: kernel.rows, columns: kernel.columns, depth: dotAddDepth}}
	if split {
		p.width *= 2
	}
	p.fused, _ = newFusedKernel(d)
	p.packRows(a)
	return p, true
}

// convertRow stores src in dst, rounded to f by Convert.
func (d *Device) convertRow(dst, src []float32, f Format) {
	switch {
	case d.Convert == ToNearestEven:
		roundRow(dst, src, f)
	case d.Convert == ToZero && f.Equal(TF32):
		const unused = 1<<13 - 1
		for i, x := range src {
			if x != x {
				dst[i] = x
				continue
			}
			dst[i] = math.Float32frombits(math.Float32bits(x) &^ unused)
		}
	default:
		for i, x := range src {
			dst[i] = float32(f.Round(float64(x), d.Convert))
		}
	}
}

// rowAt returns the index in x of term l of a group.
func (p *dotAddProduct) rowAt(group, l int) int {
	lo := l / dotAddDepth * dotAddDepth
	length := min(dotAddDepth, (p.k-lo+7)&^7) // packRows takes 8 terms at a time
	return 2 * p.rows * (lo*p.count + group*length + l - lo)
}

// columnAt returns the index in y of term l of a panel: the elements of all its
// columns, and then their exponents, one byte each.
func (p *dotAddProduct) columnAt(panel, l int) int { return (panel*p.k + l) * p.columns * 5 / 4 }

func (p *dotAddProduct) packRows(a blas32.General) {
	p.count = p.groups()
	padded := (p.k + 7) &^ 7
	p.x = dotAddScratch.x.get(2 * p.rows * p.count * padded)
	p.rareX = make([]uint16, p.count*p.chunks())
	constants := newExponentConstants(p.d.A)
	parallel.Ranges(p.count, func(groupLo, groupHi int) {
		rows := dotAddScratch.rows.get(p.rows * padded)
		defer dotAddScratch.rows.put(rows)
		clear(rows)
		for group := groupLo; group < groupHi; group++ {
			for r := range p.rows {
				if i := group*p.rows + r; i < p.m {
					p.d.convertRow(rows[r*padded:][:a.Cols], matrix.Row(a, i), p.d.A)
				} else {
					clear(rows[r*padded:][:a.Cols])
				}
			}
			for lo := 0; lo < p.k; lo += dotAddDepth {
				rare := p.kernel.packRows(&p.x[p.rowAt(group, lo)], &rows[lo], 4*padded, min(dotAddDepth, padded-lo), &constants.emin)
				p.rareX[lo/dotAddDepth*p.count+group] = uint16(rare)
			}
		}
	})
}

// getColumns allocates the memory of the columns.
func (p *dotAddProduct) getColumns() {
	p.y = dotAddScratch.y.get(p.columnAt(p.panels(), 0))
	p.rareY = make([]uint64, p.panels()*p.chunks())
}

func (p *dotAddProduct) packColumns(b blas32.General) {
	const few = 16 // rows that stay in the cache
	parallel.Ranges(p.panels(), func(lo, hi int) {
		first, last, width := lo*p.columns, min(hi*p.columns, p.n), (hi-lo)*p.columns
		rows := dotAddScratch.rows.get(few * width)
		defer dotAddScratch.rows.put(rows)
		clear(rows)
		for l := 0; l < p.k; l += few {
			n := min(few, p.k-l)
			for k := range n {
				row := rows[k*width:][:last-first]
				if l+k < b.Rows {
					p.d.convertRow(row, matrix.Row(b, l+k)[first:last], p.d.B)
				} else {
					clear(row)
				}
			}
			for panel := lo; panel < hi; panel++ {
				p.packPanel(panel, l, n, rows[(panel-lo)*p.columns:], width)
			}
		}
	})
}

// packPanel packs n terms of a panel, from term l on, all in one chunk. The rows
// of src are a stride apart.
func (p *dotAddProduct) packPanel(panel, l, n int, src []float32, stride int) {
	constants := newExponentConstants(p.d.B)
	rare := p.kernel.packColumns(&p.y[p.columnAt(panel, l)], &src[0], 4*stride, n, &constants.emin)
	p.rareY[panel*p.chunks()+l/dotAddDepth] |= rare
}

// addTo stores C + AB in z.
func (p *dotAddProduct) addTo(c, z blas32.General) {
	sums, stride := p.load(c, z, p.d.C)
	p.parts(func(groupLo, groupHi, panelLo, panelHi int) {
		state := new(dotAddState)
		p.eachOf(groupLo, groupHi, panelLo, panelHi, func(group, panel, lo, hi int) {
			p.tile(sums[group*p.rows*stride+panel*p.columns:], stride, state, group, panel, lo, hi)
		})
	})
	p.store(z, sums)
}

// rectangle continues the sums of the rows [i0, i1) and of the columns [j0,
// j1), whole panels, by all terms. Row i begins at sums[i*stride].
func (p *dotAddProduct) rectangle(sums []float32, stride, i0, i1, j0, j1 int) {
	state, part := new(dotAddState), make([]float32, p.rows*p.columns)
	p.eachOf(i0/p.rows, (i1+p.rows-1)/p.rows, j0/p.columns, j1/p.columns, func(group, panel, lo, hi int) {
		first, j := group*p.rows, panel*p.columns
		if first >= i0 && first+p.rows <= i1 {
			p.tile(sums[first*stride+j:], stride, state, group, panel, lo, hi)
			return
		}
		clear(part)
		for i := max(first, i0); i < min(first+p.rows, i1); i++ {
			copy(part[(i-first)*p.columns:][:p.columns], sums[i*stride+j:])
		}
		p.tile(part, p.columns, state, group, panel, lo, hi)
		for i := max(first, i0); i < min(first+p.rows, i1); i++ {
			copy(sums[i*stride+j:], part[(i-first)*p.columns:][:p.columns])
		}
	})
}

// tile continues the sums of a tile, in rows that are a stride apart, by the
// terms [lo, hi) of one chunk.
func (p *dotAddProduct) tile(c []float32, stride int, state *dotAddState, group, panel, lo, hi int) {
	chunk := lo / dotAddDepth
	rows, columns := p.rareX[chunk*p.count+group], p.rareY[panel*((p.k+dotAddDepth-1)/dotAddDepth)+chunk]
	for r := range p.rows {
		state.rare[r] = columns
		if rows>>r&1 == 1 {
			state.rare[r] = 1<<p.columns - 1
		}
	}
	run := p.kernel.run
	if rows>>8 == 0 {
		run = p.kernel.mild
	}
	run(&c[0], 4*stride, &p.x[p.rowAt(group, lo)], &p.y[p.columnAt(panel, lo)], (hi-lo)/p.width, &p.constants.quads, &state.rare[0])
	for r := range p.rows {
		for rare := state.rare[r]; rare != 0; rare &= rare - 1 {
			j := bits.TrailingZeros64(rare)
			c[r*stride+j] = p.sum(state.old[r*p.columns+j], group, r, panel, j, lo, hi)
		}
	}
}

// sum returns what the kernel computes for row r of a group and column j of a
// panel, continuing c, without the kernel.
func (p *dotAddProduct) sum(c float32, group, r, panel, j, lo, hi int) float32 {
	if group*p.rows+r >= p.m || panel*p.columns+j >= p.n {
		return 0
	}
	rarePath.count(1, hi-lo, 1)
	x, y := make([]float64, hi-lo), make([]float64, hi-lo)
	ex, ey := make([]int16, hi-lo), make([]int16, hi-lo)
	for k := range x {
		x[k] = float64(math.Float32frombits(p.x[p.rowAt(group, lo+k)+r]))
		y[k] = float64(p.y[p.columnAt(panel, lo+k)+j])
	}
	finite := exponents(ex, x, p.d.A)
	finite = exponents(ey, y, p.d.B) && finite
	chain := func(lo, hi int, c float64) float64 {
		if finite && p.fused != nil {
			return p.fused.chain(x[lo:hi], y[lo:hi], ex[lo:hi], ey[lo:hi], c)
		}
		return p.d.chain(x[lo:hi], y[lo:hi], nil, nil, c, nil)
	}
	if !p.split {
		return float32(chain(0, hi-lo, float64(c)))
	}
	z := float64(c)
	for l := 0; l < hi-lo; l += p.width {
		z = addSplit(p.d.C, chain(l, l+p.width, 0), z)
	}
	return float32(z)
}
