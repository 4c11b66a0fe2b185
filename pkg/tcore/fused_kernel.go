package tcore

import "math"

// fusedKernel is a fast Fused.sum for finite factors that are already decoded.
// Products, and products times a power of two, are exact in binary64, and
// converting to an integer truncates as step 4 of [Fused] does. It calls
// Fused.sum for a block where
//
//   - c is an infinity or NaN;
//   - E* without the zeros is less than ZeroExponent or greater than 900.
//
// It calls Fused.round for a sum that is truncated to zero or to a subnormal
// number, or that overflows.
type fusedKernel struct {
	f        Fused
	d        *Device
	emin     int    // of C
	drop     uint64 // mask of the bits of binary64 that rounding toward zero clears
	nearest  bool   // round to nearest even in binary16, not toward zero
	least    uint64 // exponent field, in binary64, of the least normal number of Result
	greatest uint64 // and of the greatest number of Result
}

// newFusedKernel returns the kernel of a device. It returns false if there is
// none.
func newFusedKernel(d *Device) (*fusedKernel, bool) {
	f, ok := d.Core.(Fused)
	if !ok || f.Group > 0 || d.ScaleBlock > 0 || f.room() > 53 || f.ZeroExponent < -900 || f.NegativeTiny {
		return nil, false
	}
	k := &fusedKernel{
		f: f, d: d,
		emin:     d.C.Emin,
		drop:     1<<(53-f.Result.Precision) - 1,
		nearest:  f.Rounding == ToNearestEven && f.Result.Equal(Binary16),
		least:    uint64(f.Result.Emin + 1023),
		greatest: uint64(f.Result.Emax + 1023),
	}
	return k, k.nearest || f.Rounding == ToZero && f.Result.Specials == IEEE
}

// chain adds the blocks of x and y one after the other to c.
func (k *fusedKernel) chain(x, y []float64, ex, ey []int16, c float64) float64 {
	w := k.f.Terms
	for len(x) > 0 {
		c = k.sum(x[:w], y[:w], ex[:w], ey[:w], c)
		x, y, ex, ey = x[w:], y[w:], ex[w:], ey[w:]
	}
	return c
}

// sum returns c + Σ xᵢyᵢ for one block.
func (k *fusedKernel) sum(x, y []float64, ex, ey []int16, c float64) float64 {
	// Greatest exponent.
	top := k.exponent(c)
	ey = ey[:len(ex)]
	for i, e := range ex {
		top = max(top, int(e+ey[i]))
	}
	if top < k.f.ZeroExponent || top > 900 {
		return k.f.sum(k.d, block{x: x, y: y, c: c}, nil)
	}

	// Align and truncate, add.
	scale := math.Float64frombits(uint64(1023+k.f.FractionBits-top) << 52)
	total := int64(c * scale)
	y = y[:len(x)]
	for i, v := range x {
		total += int64(float64(v*y[i]) * scale)
	}

	// Round.
	s := float64(total) * math.Float64frombits(uint64(1023+top-k.f.FractionBits)<<52)
	if k.nearest {
		return round16(s) + 0 // -0 + 0 is +0
	}
	b := math.Float64bits(s)
	if e := b >> 52 & 0x7ff; e >= k.least && e <= k.greatest {
		return math.Float64frombits(b &^ k.drop)
	}
	return k.f.round(total, top-k.f.FractionBits)
}

// exponent returns the exponent of the accumulator c, zeroFactor if c is 0.
func (k *fusedKernel) exponent(c float64) int {
	e := int(math.Float64bits(c)>>52&0x7ff) - 1023
	switch {
	case e >= k.emin:
		return e
	case c == 0:
		return zeroFactor
	}
	return k.emin
}
