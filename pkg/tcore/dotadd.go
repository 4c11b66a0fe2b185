package tcore

import "math"

// dotAdd computes [Fused] sums of a tile in place: it adds to the sums c, whose
// rows are a stride in bytes apart, the products of the given number of blocks
// of a group of rows a and a panel of columns b, as the packing routines of its
// kernel store them. p points to dotAddConstants, state to a dotAddState.
type dotAdd = func(c *float32, stride int, a *uint32, b *float32, blocks int, p *uint32, state *uint64)

// dotAddKernel is a dotAdd of a given tile, with the routines that prepare its
// operands. These set bit i of their result if row or column i has an element
// out of range: an infinity, a NaN, or a nonzero number whose exponent is not
// in [-dotAddReach, dotAddReach]. packRows sets bit 8+i if the significands of
// row i are not mild: those of 8 elements in a row are all at least 1.5.
type dotAddKernel struct {
	rows, columns int
	run           dotAdd
	mild          dotAdd // for rows of mild significands
	packRows      func(dst *uint32, src *float32, stride, n int, emin *uint32, step int, p *uint32) uint64
	packColumns   func(dst, src *float32, stride, k int, emin, p *uint32) uint64
}

// dotAddReach is the greatest magnitude of the exponent of a factor. Products
// of such factors are normal in binary32, as are the powers of two that align
// them. All sums are multiples of 2^(-2 dotAddReach - F), so E* need not be
// less than -2 dotAddReach.
const dotAddReach = 50

// dotAddState is what a dotAdd returns, and memory for it.
type dotAddState struct {
	rare [2]uint64    // for each row, bit j: sum j left the range of the routine
	old  [128]float32 // the sums before the call
	most [128]float32 // the greatest magnitudes of sums that may overflow
}

// dotAddConstants contains the constants of a dotAdd, which copies them to all
// lanes of a vector. Bits are those of a binary32 number.
type dotAddConstants struct {
	quads    uint32 // Terms / 4
	least    uint32 // the biased exponent of the least E* allowed, in all four bytes
	scale    uint32 // sum of the exponent fields of 2^F and of 1
	inverse  uint32 // sum of the exponent fields of a power of two and of its inverse
	infinity uint32
	keep     uint32 // mask of the bits of a result that truncation keeps
	tiny     uint32 // bits of the least magnitude of a c other than 0
	limit    uint32 // bits of the least magnitude of a sum that may have overflowed
	normal   uint32 // bits of 2^-14
	one      uint32
	mxcsr    uint32    // the MXCSR control word for rounding toward zero
	below    [2]uint32 // mask of the 29 bits of binary64 that binary32 does not have
}

// exponentConstants contains the constants of packRows and packColumns: the
// bits of 2^dotAddReach, and 2 dotAddReach in the exponent field.
type exponentConstants struct {
	greatest, farthest uint32
}

// exponentBits returns the bits of 2^e in binary32.
func exponentBits(e int) uint32 { return uint32(127+e) << 23 }

// dotAddExponents are the constants of all formats.
var dotAddExponents = exponentConstants{exponentBits(dotAddReach), 2 * dotAddReach << 23}

func newDotAddConstants(f *Fused, d *Device) dotAddConstants {
	least := -2 * dotAddReach
	if f.Result.Equal(Binary16) { // c is zero, or its exponent is at least -14
		least = max(least, f.ZeroExponent)
	}
	// A sum that has overflowed is at least 2^32 less its bound.
	limit := Binary32.Round(0x1p32-f.sumBound(d, f.Terms), ToZero)
	return dotAddConstants{
		quads:    uint32(f.Terms / 4),
		least:    uint32(127+least) * 0x01010101,
		scale:    uint32(127+f.FractionBits+127) << 23,
		inverse:  (127 + 127) << 23,
		infinity: infinity32,
		keep:     ^(1<<(Binary32.Precision-f.Result.Precision) - 1),
		tiny:     exponentBits(-2 * dotAddReach),
		limit:    math.Float32bits(float32(max(limit, 0))),
		normal:   exponentBits(Binary16.Emin),
		one:      1,
		mxcsr:    0x7f80, // round toward zero, all exceptions masked
		below:    [2]uint32{1<<29 - 1, 0},
	}
}

// dotAddKind selects a dotAdd.
type dotAddKind struct {
	half    bool // results are rounded to binary16; otherwise they are truncated
	narrow  bool // to fewer bits than binary32 has
	checked bool // sums may overflow 32 bits by a little, which is found
	wide    bool // sums need more than 32 bits; results may be narrow
	split   bool // sums of two blocks begin with zero and are added to c; they may be narrow and are checked
}

// dotAddKernel returns the kernel that computes the sums of f on d, those of a
// [Split] if split. It returns false if there is none.
func (f *Fused) dotAddKernel(d *Device, split bool) (k dotAddKernel, ok bool) {
	switch {
	case f.Group > 0 || d.ScaleBlock > 0 || f.FractionBits > 25 || d.A.Precision+d.B.Precision > Binary32.Precision:
		return k, false
	case min(d.A.Emin, d.B.Emin) < Binary32.Emin || max(d.A.Emax, d.B.Emax) > Binary32.Emax:
		return k, false
	case f.Terms%4 != 0 || dotAddDepth%(2*f.Terms) != 0:
		return k, false
	}
	half := f.Rounding == ToNearestEven && f.Result.Equal(Binary16) && d.C.Equal(Binary16) &&
		!f.NegativeTiny && f.ZeroExponent <= Binary16.Emin
	truncated := f.Rounding == ToZero && d.C.Equal(Binary32) && f.ZeroExponent <= -2*dotAddReach &&
		f.Result.Emin == Binary32.Emin && f.Result.Emax == Binary32.Emax &&
		f.Result.Specials == IEEE && f.Result.Precision <= Binary32.Precision
	if !half && !truncated {
		return k, false
	}
	// 8 mild significands have a sum less than 15.5.
	mild := (float64(f.Terms/8)*15.5*2+2)*exp2(f.FractionBits) <= 0x1p31
	narrow := truncated && f.Result.Precision < Binary32.Precision
	bound := f.sumBound(d, f.Terms)
	switch little := bound <= 0x1p31+0x1p27; {
	case split && little:
		return dotAddKernelFor(dotAddKind{half: half, split: true})
	case split:
		return k, false
	case bound <= 0x1p31:
		return dotAddKernelFor(dotAddKind{half: half, narrow: narrow})
	case little && !narrow:
		k, ok = dotAddKernelFor(dotAddKind{half: half, checked: true})
		if plain, _ := dotAddKernelFor(dotAddKind{half: half}); mild {
			k.mild = plain.run
		}
		return k, ok
	case f.Terms%8 == 0 && f.sumBound(d, f.Terms/2) <= 0x1p31:
		return dotAddKernelFor(dotAddKind{half: half, wide: true})
	}
	return k, false
}

// sumBound returns a number greater than the magnitude of the sum of the given
// number of products and c, in units of 2^(E*-F).
func (f *Fused) sumBound(d *Device, terms int) float64 {
	greatest := func(f Format) float64 { return 2 - exp2(1-f.Precision) }
	return (float64(terms)*greatest(d.A)*greatest(d.B) + 2) * exp2(f.FractionBits)
}
