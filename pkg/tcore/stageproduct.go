package tcore

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// stageKernel computes [TwoStage] sums of one row and some columns at once. run
// adds to c the products of the values av and bv in the given number of blocks
// and stores the sums in d. ae and be are the distances of their exponents, a
// byte each; those of a row stand four times in a word. Bit j of the result is
// set if column j of c is out of range; its sum is then invalid.
//
// pack stores the distances of src, a chunk of a row, in ae and reports whether
// one is out of range. packPanel copies rows of the panel that begins with the
// first element of src to bv, and their distances to be. Bit j of its result is
// set if column j has an element out of range. emin is the least exponent of
// the format.
type stageKernel struct {
	columns   int
	run       func(d, c, av *float32, ae *uint32, bv *float32, be *uint8, blocks int) uint64
	pack      func(ae []uint32, src []float32, emin int) bool
	packPanel func(bv []float32, be []uint8, src []float32, stride, emin int) uint64
}

// The ways to compute sums in two stages.
var (
	stagePath     = newPath("sums in two stages")
	stageSlowPath = newPath("sums in two stages one by one")
)

// stageDepth is the number of terms that a stageKernel adds at a time, a chunk.
// The columns that it reads stay in the cache for all rows.
const stageDepth = 64

// The distances of exponents: how far they are below stageTop. Those of nonzero
// factors are at most stageReach. The routines of package vector have these
// numbers.
const (
	stageTop   = 31
	stageReach = 63
	stageZero  = 255
)

// stageDistance returns the distance of the exponent of x, a number of a format
// of the exponent emin, and whether it is in range.
func stageDistance(x float32, emin int) (distance uint8, ok bool) {
	if x == 0 {
		return stageZero, true
	}
	d := stageTop - max(int(math.Float32bits(x)>>23&0xff)-127, emin)
	return uint8(d), 0 <= d && d <= stageReach
}

// packStageRow is stageKernel.pack.
func packStageRow(ae []uint32, src []float32, emin int) (rare bool) {
	for i, x := range src {
		d, ok := stageDistance(x, emin)
		ae[i] = uint32(d) * 0x01010101
		rare = rare || !ok
	}
	return rare
}

// packStagePanel is stageKernel.packPanel for panels of the given number of
// columns.
func packStagePanel(columns int) func(bv []float32, be []uint8, src []float32, stride, emin int) uint64 {
	return func(bv []float32, be []uint8, src []float32, stride, emin int) (rare uint64) {
		for k := range len(bv) / columns {
			for j, x := range src[k*stride:][:columns] {
				d, ok := stageDistance(x, emin)
				bv[k*columns+j], be[k*columns+j] = x, d
				if !ok {
					rare |= 1 << j
				}
			}
		}
		return rare
	}
}

// stageProduct is the product of matrices on a device whose Core is a
// [TwoStage], with its operands prepared.
type stageProduct struct {
	d      *Device
	kernel stageKernel
	tiling
	x     []float32 // chunks of all rows of A, one chunk after the other
	ex    []uint32
	rareX []bool    // whether a chunk of a row has an element out of range
	y     []float32 // panels of B, row by row
	ey    []uint8
	rareY []uint64 // for a chunk of a panel, a bit for every column with an element out of range
}

// stageScratch recycles the memory of finished products.
var stageScratch struct {
	x, y scratch[float32]
	ex   scratch[uint32]
	ey   scratch[uint8]
}

// newStageProduct prepares a and b. It returns false if d has no TwoStage core,
// or there is no kernel for its blocks and formats.
func newStageProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	core, ok := d.Core.(TwoStage)
	if !ok || !d.C.Equal(Binary32) || !Binary32.contains(d.A) || !Binary32.contains(d.B) {
		return nil, false
	}
	kernel, ok := stageKernelFor(core)
	if !ok {
		return nil, false
	}
	p := &stageProduct{d: d, kernel: kernel,
		tiling: tiling{m: a.Rows, n: b.Cols, k: d.padded(a.Cols), rows: 1, columns: kernel.columns, depth: stageDepth}}
	parallel.Loops(p.packRows(a), p.packPanels(b))
	return p, true
}

func (p *stageProduct) release() {
	stageScratch.x.put(p.x)
	stageScratch.ex.put(p.ex)
	stageScratch.y.put(p.y)
	stageScratch.ey.put(p.ey)
}

// padded is K in whole chunks.
func (p *stageProduct) padded() int { return p.chunks() * stageDepth }

// part is the index of a chunk of a row among all of them.
func (p *stageProduct) part(i, chunk int) int { return chunk*p.m + i }

// packRows returns the loop that packs the rows.
func (p *stageProduct) packRows(a blas32.General) parallel.Loop {
	n := p.padded()
	p.x, p.ex = stageScratch.x.get(p.m*n), stageScratch.ex.get(p.m*n)
	p.rareX = make([]bool, p.m*p.chunks())
	return parallel.Loop{N: p.m, Work: func(lo, hi int) {
		row := make([]float32, n)
		for i := lo; i < hi; i++ {
			p.d.convertRow(row[:a.Cols], matrix.Row(a, i), p.d.A)
			for c := range p.chunks() {
				part := p.part(i, c)
				x := p.x[part*stageDepth:][:stageDepth]
				copy(x, row[c*stageDepth:])
				p.rareX[part] = p.kernel.pack(p.ex[part*stageDepth:][:stageDepth], x, p.d.A.Emin)
			}
		}
	}}
}

// packPanels returns the loop that packs the chunks of all panels.
func (p *stageProduct) packPanels(b blas32.General) parallel.Loop {
	width, size := p.stride(), p.padded()*p.columns
	p.y, p.ey = stageScratch.y.get(p.panels()*size), stageScratch.ey.get(p.panels()*size)
	p.rareY = make([]uint64, p.panels()*p.chunks())
	return parallel.Loop{N: p.chunks(), Work: func(lo, hi int) {
		rows := make([]float32, stageDepth*width)
		for c := lo; c < hi; c++ {
			clear(rows)
			for l := c * stageDepth; l < min((c+1)*stageDepth, b.Rows); l++ {
				p.d.convertRow(rows[l%stageDepth*width:][:p.n], matrix.Row(b, l), p.d.B)
			}
			for j := range p.panels() {
				at, n := j*size+c*stageDepth*p.columns, stageDepth*p.columns
				p.rareY[j*p.chunks()+c] = p.kernel.packPanel(p.y[at:][:n], p.ey[at:][:n], rows[j*p.columns:], width, p.d.B.Emin)
			}
		}
	}}
}

// addTo stores C + AB in z.
func (p *stageProduct) addTo(c, z blas32.General) {
	stagePath.count(p.m, p.k, p.n)
	sums, stride := p.load(c, z, p.d.C)
	p.parts(func(groupLo, groupHi, panelLo, panelHi int) {
		next := make([]float32, p.columns)
		p.eachOf(groupLo, groupHi, panelLo, panelHi, func(i, panel, lo, hi int) {
			p.chunk(sums[i*stride+panel*p.columns:][:p.columns], next, i, panel, lo, hi)
		})
	})
	p.store(z, sums)
}

// chunk continues the sums c of row i and one panel by the terms [lo, hi) of
// one chunk. z is memory for as many sums.
func (p *stageProduct) chunk(c, z []float32, i, panel, lo, hi int) {
	part, y := p.part(i, lo/stageDepth), (panel*p.padded()+lo)*p.columns
	x := part * stageDepth
	rare := p.rareY[panel*p.chunks()+lo/stageDepth]
	if p.rareX[part] {
		rare = 1<<p.columns - 1
	}
	rare |= p.kernel.run(&z[0], &c[0], &p.x[x], &p.ex[x], &p.y[y], &p.ey[y], (hi-lo)/p.d.Core.width())
	for ; rare != 0; rare &= rare - 1 {
		j := bits.TrailingZeros64(rare)
		z[j] = p.column(c[j], i, panel, j, lo, hi)
	}
	copy(c, z)
}

// column returns what chunk computes for column j, without the kernel.
func (p *stageProduct) column(c float32, i, panel, j, lo, hi int) float32 {
	if panel*p.columns+j >= p.n {
		return 0
	}
	stagePath.count(-1, hi-lo, 1)
	stageSlowPath.count(1, hi-lo, 1)
	x, y := make([]float64, hi-lo), make([]float64, hi-lo)
	widenSlice(x, p.x[p.part(i, lo/stageDepth)*stageDepth:][:hi-lo])
	for k := range y {
		y[k] = float64(p.y[(panel*p.padded()+lo+k)*p.columns+j])
	}
	return float32(p.d.chain(x, y, nil, nil, float64(c), nil))
}
