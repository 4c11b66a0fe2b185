package tcore

import (
	"math"
	"sync"
)

// groupScale is a scale as significand × 2^exp. The significand of a scale of 0
// and of a NaN is 0.
type groupScale struct {
	significand float32
	exp         int16
	isNaN       bool
}

// groupScales returns the scales of all codes of a format with a kernel.
func groupScales(f Format) *[256]groupScale {
	if f.Equal(E8M0) {
		return groupScalesE8M0()
	}
	return groupScalesUE4M3()
}

var (
	groupScalesE8M0  = sync.OnceValue(func() *[256]groupScale { return newGroupScales(E8M0) })
	groupScalesUE4M3 = sync.OnceValue(func() *[256]groupScale { return newGroupScales(UE4M3) })
)

// newGroupScales is groupScales of any format.
func newGroupScales(f Format) *[256]groupScale {
	t := new([256]groupScale)
	for code := range t {
		x := f.Decode(uint64(code))
		if x != x || x == 0 {
			t[code].isNaN = x != x
			continue
		}
		_, exp := f.split(x)
		t[code] = groupScale{float32(x / exp2(exp)), int16(exp), false}
	}
	return t
}

// groupVector describes the scales of a row of A or of a column of B. Scales of
// groups of zeros, scales of zero and NaNs do not count.
type groupVector struct {
	least, greatest int16   // exponents of scales, or 0 if none counts
	hasNaN          bool    // among the scales
	norm            float64 // 2-norm of the scales / 2^least
}

// nothing describes no scales. finish makes a groupVector of it.
var nothing = groupVector{least: math.MaxInt16, greatest: math.MinInt16}

// add adds a scale of a group.
func (v *groupVector) add(s *groupScale, zeros bool) {
	if s.isNaN {
		v.hasNaN = true
	}
	if zeros || s.significand == 0 {
		return
	}
	v.least, v.greatest = min(v.least, s.exp), max(v.greatest, s.exp)
}

// finish is called after all scales have been added, before relative.
func (v *groupVector) finish() {
	if v.least > v.greatest {
		v.least, v.greatest = 0, 0
	}
}

// relative returns the scale of a group / 2^least, or 0 if it does not count.
func (v *groupVector) relative(s *groupScale, zeros bool) float32 {
	if zeros {
		return 0
	}
	return s.significand * v.power(s)
}

// power returns 2^exp / 2^least for the exponent of a scale, or infinity beyond
// the range of binary32.
func (v *groupVector) power(s *groupScale) float32 {
	return math.Float32frombits(min(uint32(127+int(s.exp)-int(v.least)), 255) << 23)
}

// groupFactor is what a tile has of one operand: rows of A or columns of B.
type groupFactor struct {
	least, greatest int     // exponents of the least scales of the vectors
	spread          int     // the greatest one
	norm            float64 // the greatest one
	hasNaN          bool
}

func newGroupFactor(vectors []groupVector) groupFactor {
	f := groupFactor{least: int(vectors[0].least), greatest: int(vectors[0].least)}
	for _, v := range vectors {
		f.least, f.greatest = min(f.least, int(v.least)), max(f.greatest, int(v.least))
		f.spread = max(f.spread, int(v.greatest)-int(v.least))
		f.norm, f.hasNaN = max(f.norm, v.norm), f.hasNaN || v.hasNaN
	}
	return f
}

// groupOperand describes the scales of an operand.
type groupOperand struct {
	vectors []groupVector // rows or columns
	powers  []float32     // 2^least of each
	tiles   []groupFactor // groups of rows, or panels
}

func newGroupOperand(tiles, size int) groupOperand {
	return groupOperand{make([]groupVector, tiles*size), make([]float32, tiles*size), make([]groupFactor, tiles)}
}

// finish completes the description of tile l from those of its vectors.
func (o *groupOperand) finish(l, size int) {
	vectors := o.vectors[l*size:][:size]
	o.tiles[l] = newGroupFactor(vectors)
	for i, v := range vectors {
		o.powers[l*size+i] = float32(exp2(int(v.least)))
	}
}
