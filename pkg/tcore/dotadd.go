package tcore

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// dotAdd computes [Fused] sums of one row and several columns at once. It adds
// to c the products of the values av, of exponents ae, and bv, of exponents be,
// in the given number of blocks, and stores the sums in d. p points to
// dotAddConstants. Bit j of the result is set if column j left the range of the
// routine; its sum is then invalid.
type dotAdd = func(d, c, av *float32, ae *uint32, bv *float32, be *uint16, blocks int, p *uint32) uint64

// dotAddKernel is a dotAdd of a given number of columns, with the routines that
// prepare its operands. These return a value other than 0 if an operand is out
// of range: an infinity, a NaN, or a nonzero number whose exponent is not in
// [-dotAddReach, dotAddReach].
type dotAddKernel struct {
	columns     int
	run         dotAdd
	packRow     func(ae *uint32, src *float32, n int, p *uint32) uint64
	packColumns func(bv *float32, be *uint16, src *float32, stride int, k int, p *uint32) uint64
}

// dotAddReach is the greatest magnitude of the exponent of a factor. Products
// of such factors are normal in binary32, as are the powers of two that align
// them. All sums are multiples of 2^(-2 dotAddReach - F), so E* need not be
// less than -2 dotAddReach.
const dotAddReach = 50

// dotAddDepth is the number of terms in one call of a dotAdd. The columns that
// it reads stay in the cache for the calls with all rows.
const dotAddDepth = 128

// dotAddConstants contains the constants of a dotAdd, which copies each of them
// to all lanes of a vector. Bits are those of a binary32 number. The distance
// of an exponent is the greatest exponent allowed minus this exponent.
type dotAddConstants struct {
	least    uint32 // the greatest distance, in both halves of the word
	top      uint32 // bits of 2^E for E of distance 0
	scale    uint32 // sum of the exponent fields of 2^F and of 1
	fraction uint32 // F in the exponent field
	keep     uint32 // mask of the bits of a result that truncation keeps
	most     uint32 // bits of 2^E for the greatest E allowed
	normal   uint32 // bits of 2^-14
	zero     uint32 // bits of 2^E for the exponent E of a zero c, in binary16
	infinity uint32
	high     uint32
	one      uint32
	mxcsr    uint32 // the MXCSR control word for rounding toward zero
}

// exponentConstants contains the constants of packRow and packColumns: the bits
// of 2^Emin and of 2^dotAddReach, and the greatest distance 2 dotAddReach in
// the exponent field.
type exponentConstants struct {
	emin, greatest, farthest uint32
}

// exponentBits returns the bits of 2^e in binary32.
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

// dotAddKernel returns the kernel that computes the sums of f on d. It returns
// false if there is none.
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

// sumBound returns a number greater than the magnitude of the sum of 16
// products and c, in units of 2^(E*-F).
func (f *Fused) sumBound(d *Device) float64 {
	greatest := func(f Format) float64 { return 2 - exp2(1-f.Precision) }
	return (16*greatest(d.A)*greatest(d.B) + 2) * exp2(f.FractionBits)
}

// dotAddProduct is a matrix product computed by a dotAdd, with its operands
// prepared.
type dotAddProduct struct {
	d      *Device
	f      Fused
	kernel dotAddKernel
	fused  *fusedKernel // computes columns out of the range of kernel; nil if there is none

	m, n, k int
	stride  int // elements of a row in x and ex, and of a panel in y and ey

	x     []float32 // rows of A
	ex    []uint32  // distances from dotAddReach, times 1 << 7, in both halves of the word
	rareX []bool    // whether a chunk of a row has an element out of range
	y     []float32 // panels of B, row by row
	ey    []uint16  // distances times 1 << 7, those of columns j and j + columns/2 side by side
	rareY []uint64  // for a chunk of a panel, bit j: column j has an element out of range

	constants dotAddConstants

	// exact, if not nil, is column for factors that were changed after packing.
	exact func(c float32, i, j, lo, hi int) float32
}

// dotAddScratch recycles the memory of finished products.
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

// newDotAddProduct prepares the operands. It returns false if there is no
// kernel for d.
func newDotAddProduct(d *Device, a, b blas32.General) (*dotAddProduct, bool) {
	p, ok := newDotAddRows(d, a, b.Cols)
	if ok {
		p.getColumns()
		p.packColumns(b)
	}
	return p, ok
}

// newDotAddRows prepares the rows of a product that has n columns. It returns
// false if there is no kernel for d.
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

// getColumns allocates the memory of the columns.
func (p *dotAddProduct) getColumns() {
	p.y, p.ey = dotAddScratch.y.get(p.width()*p.stride), dotAddScratch.ey.get(p.width()*p.stride)
	p.rareY = make([]uint64, p.width()/p.kernel.columns*p.chunks())
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

// chunks returns the number of chunks: dotAddDepth terms each, and the rest of
// K.
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

// packChunk packs chunk c of B from rows, dotAddDepth rows padded to whole
// panels.
func (p *dotAddProduct) packChunk(c int, rows []float32) {
	columns, width, constants := p.kernel.columns, p.width(), newExponentConstants(p.d.B)
	n := min(dotAddDepth, p.k-c*dotAddDepth)
	for j := range width / columns {
		at := (j*p.stride + c*dotAddDepth) * columns
		p.rareY[j*p.chunks()+c] = p.kernel.packColumns(&p.y[at], &p.ey[at], &rows[j*columns], 4*width, n, &constants.emin)
	}
}

// width returns N rounded up to whole panels.
func (p *dotAddProduct) width() int {
	return (p.n + p.kernel.columns - 1) / p.kernel.columns * p.kernel.columns
}

// multiply continues the sums z, the rows [rowLo, rowHi) of the result, by the
// terms [lo, hi), which are whole blocks.
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

// rectangle continues the sums of the rows [i0, i1) and of the columns [j0,
// j1), whole panels, by all terms. Row i begins at sums[i*stride].
func (p *dotAddProduct) rectangle(sums []float32, stride, i0, i1, j0, j1 int) {
	next := new([32]float32)
	for lo := 0; lo < p.k; lo += dotAddDepth {
		for j := j0; j < j1; j += p.kernel.columns {
			for i := i0; i < i1; i++ {
				c := sums[i*stride+j:][:p.kernel.columns]
				p.chunk(c, next, true, i, j/p.kernel.columns, lo, min(lo+dotAddDepth, p.k))
			}
		}
	}
}

// multiplySplit is multiply for a [Split] of w terms: it sums every w terms
// from zero and then adds this sum to z, rounded to C.
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
		if half { // rounding to binary32 and then to binary16 equals one rounding (Figueroa 1995)
			roundRow(sums, sums, Binary16)
		}
	}
	p.store(z[:rowHi-rowLo], sums, width)
}

// load returns the rows z in binary32, padded with zeros to whole panels, and
// the length of a padded row.
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

// chunk continues the sums c of row i and one panel by the terms [lo, hi) of
// one chunk. tiny reports whether c may contain a nonzero number below the
// range of the kernel. z is memory for the results of the kernel.
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

// column returns what chunk computes for column j, without the kernel.
func (p *dotAddProduct) column(c float32, i, panel, j, lo, hi int) float32 {
	if panel*p.kernel.columns+j >= p.n {
		return 0
	}
	if p.exact != nil {
		return p.exact(c, i, panel*p.kernel.columns+j, lo, hi)
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
