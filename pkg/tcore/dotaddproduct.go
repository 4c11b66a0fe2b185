package tcore

import (
	"math"
	"math/bits"
	"sync/atomic"

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
	scaled bool         // whether the factors are codes with scales
	split  bool         // whether the sums of two blocks begin with zero and are added to c
	width  int          // terms of a block, or of two if split
	count  int          // of groups

	a, b  *dotAddOperand
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
	if core, ok := d.Core.(Split); ok {
		half := core.half(d)
		if _, ok := core.By.dotAddKernel(half, true); !ok {
			return nil, false
		}
		x, y := d.splitTerms(core, a, b)
		defer splitScratch.put(x.Data)
		defer splitScratch.put(y.Data)
		p, ok := newDotAddOf(half, half.numbers(Binary16, x), half.numbers(Binary16, y), true)
		return p, ok
	}
	plain, ok := d.unscaled()
	if !ok {
		return nil, false
	}
	p, ok := newDotAddProduct(plain, a, b)
	return p, ok
}

// newAlignedCodes is newAlignedProduct for codes, with scales that are powers
// of two.
func newAlignedCodes(d *Device, a, b Codes) (prepared, bool) {
	if _, ok := d.Core.(Split); ok {
		return newAlignedProduct(d, a.decode(d.A), b.decode(d.B), false)
	}
	p, ok := newDotAddCodes(d, a, b)
	return p, ok
}

// newDotAddCodes is newDotAddProduct for codes, with scales that are powers of
// two.
func newDotAddCodes(d *Device, a, b Codes) (*dotAddProduct, bool) {
	plain, ok := d.unscaled()
	if !ok {
		return nil, false
	}
	if len(a.Scales) == 0 && len(b.Scales) == 0 {
		return newDotAddProduct(plain, a.decode(d.A), b.decode(d.B))
	}
	if d.Scale.Precision != 1 || d.ScaleBlock%dotAddStrip != 0 || min(d.A.Emin, d.B.Emin) < -32 {
		return nil, false
	}
	x, y := d.codes(d.A, a, false), d.codes(d.B, b, true)
	x.prepareScales()
	y.prepareScales()
	return newDotAddOf(plain, x, y, false)
}

// unscaled returns d with scales of 1, which change no exponent. It returns
// false if its sums are not [Fused] or their terms have more than one product.
func (d *Device) unscaled() (plain *Device, ok bool) {
	core, ok := d.Core.(Fused)
	if !ok || core.Group > 0 {
		return nil, false
	}
	u := *d
	u.ScaleBlock = 0
	return &u, true
}

// newDotAddProduct prepares the operands. It returns false if there is no
// kernel for d.
func newDotAddProduct(d *Device, a, b blas32.General) (*dotAddProduct, bool) {
	return newDotAddOf(d, d.numbers(d.A, a), d.numbers(d.B, b), false)
}

// newDotAddOf prepares the operands, for the sums of a [Split] by d if split.
// It returns false if there is no kernel for d.
func newDotAddOf(d *Device, a, b *dotAddOperand, split bool) (*dotAddProduct, bool) {
	p, ok := newDotAdd(d, a, b.cols, split)
	if ok {
		p.b = b
		p.getColumns()
		parallel.Loops(p.packRows(), p.packColumns())
	}
	return p, ok
}

// newDotAdd is newDotAddOf before the operands are packed, of which B has n
// columns.
func newDotAdd(d *Device, a *dotAddOperand, n int, split bool) (*dotAddProduct, bool) {
	f, ok := d.Core.(Fused)
	if !ok {
		return nil, false
	}
	kernel, ok := f.dotAddKernel(d, split)
	if !ok {
		return nil, false
	}
	p := &dotAddProduct{d: d, f: f, kernel: kernel, split: split, width: f.Terms, constants: newDotAddConstants(&f, d), a: a, scaled: a.codes != nil,
		tiling: tiling{m: a.rows, n: n, k: d.padded(a.cols), rows: kernel.rows, columns: kernel.columns, depth: dotAddDepth}}
	if split {
		p.width *= 2
	}
	p.fused, _ = newFusedKernel(d)
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

// packRows returns the loop that packs the rows of A.
func (p *dotAddProduct) packRows() parallel.Loop {
	p.count = p.groups()
	k, padded := p.a.cols, (p.k+7)&^7
	p.x = dotAddScratch.x.get(2 * p.rows * p.count * padded)
	p.rareX = make([]uint16, p.count*p.chunks())
	return parallel.Loop{N: p.count, Work: func(groupLo, groupHi int) {
		rows, emin, step := dotAddScratch.rows.get(p.rows*padded), make([]uint32, p.rows), 0
		defer dotAddScratch.rows.put(rows)
		clear(rows)
		if p.scaled {
			emin, step = make([]uint32, p.rows*padded/8), p.rows
		}
		for group := groupLo; group < groupHi; group++ {
			for r := range p.rows {
				i := group*p.rows + r
				if i >= p.m {
					clear(rows[r*padded:][:k])
					continue
				}
				p.a.row(rows[r*padded:][:k], i, 0)
				for l := 0; r+l*step < len(emin); l++ {
					emin[r+l*step] = p.a.emin(i, min(8*l, k-1))
					if step == 0 {
						break
					}
				}
			}
			for lo := 0; lo < p.k; lo += dotAddDepth {
				rare := p.kernel.packRows(&p.x[p.rowAt(group, lo)], &rows[lo], 4*padded, min(dotAddDepth, padded-lo),
					&emin[lo/8*step], 4*step, &dotAddExponents.greatest)
				p.rareX[lo/dotAddDepth*p.count+group] = uint16(rare)
			}
		}
	}}
}

// getColumns allocates the memory of the columns.
func (p *dotAddProduct) getColumns() {
	p.y = dotAddScratch.y.get(p.columnAt(p.panels(), 0))
	p.rareY = make([]uint64, p.panels()*p.chunks())
}

// dotAddStrip is the number of terms that are packed together, while they are
// in the cache. Their scales are the same.
const dotAddStrip = 16

// dotAddBlock is the number of columns that are packed together, or a few more.
const dotAddBlock = 512

// packColumns returns the loop that packs the columns of B, some terms of some
// whole panels at a time: long parts of its rows.
func (p *dotAddProduct) packColumns() parallel.Loop {
	strips := (p.k + dotAddStrip - 1) / dotAddStrip
	panels := (dotAddBlock + p.columns - 1) / p.columns
	blocks := (p.panels() + panels - 1) / panels
	return parallel.Loop{N: strips * blocks, Work: func(lo, hi int) {
		width := min(panels, p.panels()) * p.columns
		rows, emin := dotAddScratch.rows.get(dotAddStrip*width), make([]uint32, width)
		defer dotAddScratch.rows.put(rows)
		for j := range emin {
			emin[j] = p.b.emin(0, 0)
		}
		for i := lo; i < hi; i++ {
			l, panel := i/blocks*dotAddStrip, i%blocks*panels
			n, end := min(dotAddStrip, p.k-l), min(panel+panels, p.panels())
			first, last := panel*p.columns, min(end*p.columns, p.n)
			for k := range n {
				row := rows[k*width:][:width]
				if l+k < p.b.rows {
					p.b.row(row[:last-first], l+k, first)
					clear(row[last-first:])
				} else {
					clear(row)
				}
			}
			if p.scaled && l < p.b.rows {
				for j := range last - first {
					emin[j] = p.b.emin(l, first+j)
				}
			}
			for ; panel < end; panel++ {
				j := panel*p.columns - first
				p.packPanel(panel, l, n, rows[j:], width, emin[j:])
			}
		}
	}}
}

// packPanel packs n terms of a panel, from term l on, all in one chunk, and may
// be called for others of that chunk at the same time. The rows of src are a
// stride apart; emin are the bits of 2^Emin of each column.
func (p *dotAddProduct) packPanel(panel, l, n int, src []float32, stride int, emin []uint32) {
	rare := p.kernel.packColumns(&p.y[p.columnAt(panel, l)], &src[0], 4*stride, n, &emin[0], &dotAddExponents.greatest)
	if rare != 0 {
		atomic.OrUint64(&p.rareY[panel*p.chunks()+l/dotAddDepth], rare)
	}
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
	dotAddPath.count(p.m, p.a.cols, p.n)
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
	if p.scaled {
		x, scaleX := p.a.vector(group*p.rows+r, lo, hi)
		y, scaleY := p.b.vector(panel*p.columns+j, lo, hi)
		return float32(p.a.d.chain(x, y, scaleX, scaleY, float64(c), nil))
	}
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
