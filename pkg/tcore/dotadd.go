package tcore

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// dotAdd computes [Fused] sums of one row and several columns at once: blocks
// blocks of the values av, with exponents ae, by those of bv and be, on top of
// c into d. A bit of the result is set for every column that left the range of
// the kernel.
type dotAdd = func(d, c, av *float32, ae *uint32, bv *float32, be *uint16, blocks int, p *uint32) uint64

// dotAddKernel is a dotAdd of so many columns, and what prepares its operands.
// Both return something else than 0 if an operand is out of range: an infinity,
// a NaN, or a number not zero whose exponent is not in [-dotAddReach,
// dotAddReach].
type dotAddKernel struct {
	columns     int
	run         dotAdd
	packRow     func(ae *uint32, src *float32, n int, p *uint32) uint64
	packColumns func(bv *float32, be *uint16, src *float32, stride int, k int, p *uint32) uint64
}

// Products of factors within reach are normal in binary32, as are the powers of
// two that align them. All sums are multiples of 2^(-2 dotAddReach - F), so E*
// need not be less than -2 dotAddReach.
const dotAddReach = 50

// dotAddDepth is the number of terms that a kernel takes at once. The columns
// that it reads stay in the cache while rows pass by.
const dotAddDepth = 128

// dotAddConstants is what a dotAdd reads, every field broadcast.
type dotAddConstants struct {
	least    uint32 // the greatest distance, twice in 16 bits
	top      uint32 // bits of 2^E of distance 0
	scale    uint32 // bits of 2^F times those of 1
	fraction uint32 // F in the place of an exponent
	keep     uint32 // bits of a result that are kept
	most     uint32 // bits of 2^E for the greatest E allowed
	normal   uint32 // bits of 2^-14
	zero     uint32 // bits of 2^E of a zero c in binary16
	infinity uint32
	high     uint32
	one      uint32
	mxcsr    uint32 // the control word that truncates
}

// exponentConstants is what packRow and packColumns read.
type exponentConstants struct {
	emin, greatest, farthest uint32 // bits of 2^Emin and 2^dotAddReach, 2 dotAddReach
}

// exponentBits returns the exponent field of 2^e in its place.
func exponentBits(e int) uint32 { return uint32(127+e) << 23 }

func newExponentConstants(f Format) exponentConstants {
	return exponentConstants{exponentBits(f.Emin), exponentBits(dotAddReach), 2 * dotAddReach << 23}
}

func newDotAddConstants(f *Fused) dotAddConstants {
	const far = 4 * dotAddReach << 7
	zero := uint32(0)
	if f.ZeroExponent > -2*dotAddReach {
		zero = exponentBits(f.ZeroExponent)
	}
	return dotAddConstants{
		least:    far<<16 | far,
		top:      exponentBits(2 * dotAddReach),
		scale:    uint32(127+f.FractionBits+127) << 23,
		fraction: uint32(f.FractionBits) << 23,
		keep:     ^(1<<(Binary32.Precision-f.Result.Precision) - 1),
		most:     exponentBits(2 * dotAddReach),
		normal:   exponentBits(Binary16.Emin),
		zero:     zero,
		infinity: infinity32,
		high:     0xffff0000,
		one:      1,
		mxcsr:    0x7f80, // round toward zero, all exceptions masked
	}
}

// dotAddKernel returns the kernel that computes what f does on d, if there is
// one.
func (f *Fused) dotAddKernel(d *Device) (k dotAddKernel, ok bool) {
	switch {
	case f.Group > 0 || d.ScaleBlock > 0 || f.FractionBits > 25 || d.A.Precision+d.B.Precision > Binary32.Precision:
		return k, false
	case min(d.A.Emin, d.B.Emin) < Binary32.Emin || max(d.A.Emax, d.B.Emax) > Binary32.Emax:
		return k, false
	case f.Terms > 16 && f.sumBound(d) >= 1<<31:
		return k, false
	}
	half := f.Rounding == ToNearestEven && f.Result.Equal(Binary16) && d.C.Equal(Binary16) &&
		!f.PositiveTiny && f.ZeroExponent <= Binary16.Emin
	truncated := f.Rounding == ToZero && d.C.Equal(Binary32) && f.ZeroExponent <= -2*dotAddReach &&
		f.Result.Emin == Binary32.Emin && f.Result.Emax == Binary32.Emax &&
		f.Result.Specials == IEEE && f.Result.Precision <= Binary32.Precision
	if !half && !truncated {
		return k, false
	}
	return dotAddKernelFor(f.Terms, half)
}

// sumBound returns what the sum of 16 products and c is less than, in units of
// 2^(E*-F).
func (f *Fused) sumBound(d *Device) float64 {
	greatest := func(f Format) float64 { return 2 - exp2(1-f.Precision) }
	return (16*greatest(d.A)*greatest(d.B) + 2) * exp2(f.FractionBits)
}

// dotAddProduct is a product on a dotAdd, its operands prepared.
type dotAddProduct struct {
	d      *Device
	f      Fused
	kernel dotAddKernel
	fused  *fusedKernel // for columns that the kernel leaves, nil if there is none

	m, n, k int
	stride  int // elements of a row in x and ex, and of a panel in y and ey

	x     []float32 // rows of A
	ex    []uint32  // distances below dotAddReach << 7, doubled
	rareX []bool    // for every row and dotAddDepth terms of it
	y     []float32 // panels of B, row by row
	ey    []uint16  // distances, those of column j and j + columns/2 side by side
	rareY []uint64  // bits of columns, for every panel and dotAddDepth terms of it

	constants dotAddConstants
}

// dotAddScratch is the memory of products that are done.
var dotAddScratch struct {
	x, y, sums scratch[float32]
	ex         scratch[uint32]
	ey         scratch[uint16]
}

func (p *dotAddProduct) release() {
	p.releaseRows()
	p.releaseColumns()
}

func (p *dotAddProduct) releaseRows() {
	dotAddScratch.x.put(p.x)
	dotAddScratch.ex.put(p.ex)
}

func (p *dotAddProduct) releaseColumns() {
	dotAddScratch.y.put(p.y)
	dotAddScratch.ey.put(p.ey)
}

// newDotAddProduct prepares the operands, if there is a kernel for d.
func newDotAddProduct(d *Device, a, b blas32.General) (*dotAddProduct, bool) {
	p, ok := newDotAddRows(d, a, b.Cols)
	if ok {
		p.getColumns()
		p.packColumns(b)
	}
	return p, ok
}

// newDotAddRows prepares the rows of a product that has so many columns.
func newDotAddRows(d *Device, a blas32.General, n int) (*dotAddProduct, bool) {
	f, ok := d.Core.(Fused)
	if !ok {
		return nil, false
	}
	kernel, ok := f.dotAddKernel(d)
	if !ok {
		return nil, false
	}
	p := &dotAddProduct{d: d, f: f, kernel: kernel, m: a.Rows, n: n, k: d.padded(a.Cols), constants: newDotAddConstants(&f)}
	p.fused, _ = newFusedKernel(d)
	p.stride = (p.k + 7) &^ 7
	p.packRows(a)
	return p, true
}

// getColumns makes room for the columns.
func (p *dotAddProduct) getColumns() {
	p.y, p.ey = dotAddScratch.y.get(p.width()*p.stride), dotAddScratch.ey.get(p.width()*p.stride)
	p.rareY = make([]uint64, p.width()/p.kernel.columns*p.chunks())
}

// convertRow stores the numbers of f that stand for src in dst.
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

// chunks returns the number of times dotAddDepth begins in K.
func (p *dotAddProduct) chunks() int { return (p.k + dotAddDepth - 1) / dotAddDepth }

func (p *dotAddProduct) packRows(a blas32.General) {
	p.x, p.ex = dotAddScratch.x.get(p.m*p.stride), dotAddScratch.ex.get(p.m*p.stride)
	p.rareX = make([]bool, p.m*p.chunks())
	constants := newExponentConstants(p.d.A)
	parallel.Ranges(p.m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x := p.x[i*p.stride : (i+1)*p.stride]
			p.d.convertRow(x[:a.Cols], matrix.Row(a, i), p.d.A)
			clear(x[a.Cols:])
			for c := range p.chunks() {
				k := c * dotAddDepth
				n := min(dotAddDepth, p.stride-k)
				rare := p.kernel.packRow(&p.ex[i*p.stride+k], &x[k], n, &constants.emin)
				p.rareX[i*p.chunks()+c] = rare != 0
			}
		}
	})
}

func (p *dotAddProduct) packColumns(b blas32.General) {
	width := p.width()
	parallel.Ranges(p.chunks(), func(lo, hi int) {
		rows := make([]float32, dotAddDepth*width)
		for c := lo; c < hi; c++ {
			for k := range dotAddDepth {
				y := rows[k*width:][:p.n]
				if l := c*dotAddDepth + k; l < b.Rows {
					p.d.convertRow(y, matrix.Row(b, l), p.d.B)
				} else {
					clear(y)
				}
			}
			p.packChunk(c, rows)
		}
	})
}

// packChunk packs dotAddDepth rows of B, filled up to whole panels.
func (p *dotAddProduct) packChunk(c int, rows []float32) {
	columns, width, constants := p.kernel.columns, p.width(), newExponentConstants(p.d.B)
	n := min(dotAddDepth, p.k-c*dotAddDepth)
	for j := range width / columns {
		at := (j*p.stride + c*dotAddDepth) * columns
		p.rareY[j*p.chunks()+c] = p.kernel.packColumns(&p.y[at], &p.ey[at], &rows[j*columns], 4*width, n, &constants.emin)
	}
}

// width returns N filled up to whole panels.
func (p *dotAddProduct) width() int {
	return (p.n + p.kernel.columns - 1) / p.kernel.columns * p.kernel.columns
}

// multiply carries on the chains of z, the rows [rowLo, rowHi) of the result,
// over the terms [lo, hi), whole blocks.
func (p *dotAddProduct) multiply(z [][]float64, rowLo, rowHi, lo, hi int) {
	sums, width := p.load(z[:rowHi-rowLo])
	defer dotAddScratch.sums.put(sums)
	tiny := make([]bool, rowHi-rowLo)
	for i := range tiny {
		for _, c := range z[i] {
			tiny[i] = tiny[i] || c != 0 && math.Abs(c) < 0x1p-100
		}
	}
	columns, next := p.kernel.columns, new([32]float32)
	for lo < hi {
		end := min(lo/dotAddDepth*dotAddDepth+dotAddDepth, hi)
		for j := 0; j < width; j += columns {
			for i := range tiny {
				p.chunk(sums[i*width+j:][:columns], next, tiny[i], rowLo+i, j/columns, lo, end)
			}
		}
		lo = end
	}
	p.store(z[:rowHi-rowLo], sums, width)
}

// multiplySplit is multiply for a [Split] of w terms: every w are a chain of
// their own, from zero, that is then added to z and rounded to C.
func (p *dotAddProduct) multiplySplit(z [][]float64, rowLo, rowHi, lo, hi, w int) {
	sums, width := p.load(z[:rowHi-rowLo])
	defer dotAddScratch.sums.put(sums)
	columns, half := p.kernel.columns, p.d.C.Equal(Binary16)
	part, next := make([]float32, columns), new([32]float32)
	for ; lo < hi; lo += w {
		for j := 0; j < width; j += columns {
			for i := range rowHi - rowLo {
				c := sums[i*width+j:][:columns]
				clear(part)
				p.chunk(part, next, false, rowLo+i, j/columns, lo, lo+w)
				for l, s := range part {
					c[l] += s
				}
			}
		}
		if half { // two roundings that are as one (Figueroa 1995)
			roundRow(sums, sums, Binary16)
		}
	}
	p.store(z[:rowHi-rowLo], sums, width)
}

// load returns the rows z in binary32, filled up to whole panels of zeros, and
// the length of one.
func (p *dotAddProduct) load(z [][]float64) (sums []float32, width int) {
	width = p.width()
	sums = dotAddScratch.sums.get(len(z) * width)
	for i := range z {
		s := sums[i*width : (i+1)*width]
		for j, c := range z[i] {
			s[j] = float32(c)
		}
		clear(s[p.n:])
	}
	return sums, width
}

// store is the reverse of load.
func (p *dotAddProduct) store(z [][]float64, sums []float32, width int) {
	for i := range z {
		s := sums[i*width:]
		for j := range z[i] {
			z[i][j] = float64(s[j])
		}
	}
}

// chunk carries on the chains of c, of a row and a panel, over the terms [lo,
// hi) of one chunk. tiny says that c may hold a number too small for the
// kernel. z is for the kernel to write to.
func (p *dotAddProduct) chunk(c []float32, z *[32]float32, tiny bool, i, panel, lo, hi int) {
	x, y := i*p.stride+lo, (panel*p.stride+lo)*p.kernel.columns
	rare := p.rareY[panel*p.chunks()+lo/dotAddDepth]
	if p.rareX[i*p.chunks()+lo/dotAddDepth] {
		rare = 1<<p.kernel.columns - 1
	}
	if tiny {
		for j, v := range c {
			if v != 0 && v > -0x1p-100 && v < 0x1p-100 {
				rare |= 1 << j
			}
		}
	}
	rare |= p.kernel.run(&z[0], &c[0], &p.x[x], &p.ex[x], &p.y[y], &p.ey[y], (hi-lo)/p.f.Terms, &p.constants.least)
	for ; rare != 0; rare &= rare - 1 {
		j := bits.TrailingZeros64(rare)
		z[j] = p.column(c[j], i, panel, j, lo, hi)
	}
	copy(c, z[:])
}

// column is chunk for column j alone, without the kernel.
func (p *dotAddProduct) column(c float32, i, panel, j, lo, hi int) float32 {
	if panel*p.kernel.columns+j >= p.n {
		return 0
	}
	x, y := make([]float64, hi-lo), make([]float64, hi-lo)
	ex, ey := make([]int16, hi-lo), make([]int16, hi-lo)
	for k := range x {
		x[k] = float64(p.x[i*p.stride+lo+k])
		y[k] = float64(p.y[(panel*p.stride+lo+k)*p.kernel.columns+j])
	}
	finite := exponents(ex, x, p.d.A)
	finite = exponents(ey, y, p.d.B) && finite
	if finite && p.fused != nil {
		return float32(p.fused.chain(x, y, ex, ey, float64(c)))
	}
	return float32(p.d.chain(x, y, nil, nil, float64(c), nil))
}
