package quant

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Scaling says how a scale follows from amax, the greatest magnitude in its
// block, and how elements are divided by it. Its fields stand in the order of
// the operations.
type Scaling struct {
	Amax     float32      // of the past, in place of that of the block, if not 0
	Least    float32      // amax counts as this at least
	Aim      float32      // in place of qmax, if not 0
	Quotient Quotient     // what is computed from amax
	Factor   float32      // by which the quotient is multiplied, if not 0
	Margin   int          // by how many powers of two a scale is greater, or an inverse one smaller
	Power    Power        // how it becomes a power of two, if it does
	Range    [2]float32   // the least and the greatest scale, no limits if both are 0
	Stored   tcore.Format // to which the scale is rounded, to nearest even
	Apply    Apply        // how elements are divided by the scale

	// Zero, Infinite and NotANumber replace what is computed if amax is 0,
	// infinite or NaN.
	Zero, Infinite, NotANumber Corner
}

// A Quotient is what is computed from amax and qmax, the greatest number of the
// format of the elements.
type Quotient int

// Quotients. MaxOverAmax is inverse: by it, elements are multiplied.
const (
	AmaxOverMax         Quotient = iota // fl(amax / qmax)
	AmaxTimesInverse                    // fl(amax · fl(1 / qmax))
	AmaxOverPower                       // amax / 2^Emax, exactly
	MaxOverAmax                         // fl(qmax / amax)
	AmaxTimesTensor                     // fl(amax · fl(S · fl(1 / qmax))), S the inverse scale of the tensor
	AmaxOverTensor                      // fl(fl(amax / qmax) / t), t the scale of the tensor
	QuotientTimesTensor                 // fl(fl(amax / qmax) · S)
)

// inverse reports whether the scale is one by which elements are multiplied.
func (q Quotient) inverse() bool { return q == MaxOverAmax }

// A Power says which power of two a scale becomes.
type Power int

// Powers of two for a quotient v.
const (
	NoPower   Power = iota // v itself
	Up                     // the least power of two that is not less than v
	Down                   // the greatest power of two that is not greater than v
	DownEven               // Down for v plus half an ulp of its significand in the format of the elements
	UpByLog                // 2^⌈log2 v⌉, where the logarithm is rounded to binary32
	DownByLog              // 2^⌊log2 v⌋, likewise; of v · 2^Emax for AmaxOverPower
)

// An Apply says how an element x is divided by its scale s.
type Apply int

// Ways to divide by a scale.
const (
	Divide             Apply = iota // fl(x / s)
	TimesInverse                    // fl(x · fl(1 / s))
	Times                           // fl(x · S), where S is stored in place of the scale
	TimesInverseOfBoth              // fl(x · fl(1 / fl(s · fl(1 / S)))), the inverse at most the greatest number of binary32
	TimesQuotient                   // fl(x · fl(fl(1 / t) / s))
)

// A Corner is a scale that replaces the computed one.
type Corner int

// Scales for a block of zeros, with an infinity or with a NaN.
const (
	Computed      Corner = iota // none: what the operations give
	One                         // 1
	GreatestScale               // the greatest of Range
	NaNScale                    // NaN: all the block is
)

// takesTensor reports whether the quotient takes a scale of the tensor, and
// inverse whether that is an inverse one.
func (q Quotient) takesTensor() (takes, inverse bool) {
	return q >= AmaxTimesTensor, q == AmaxTimesTensor || q == QuotientTimesTensor
}

// scale returns the scale, or inverse scale, for a block of the given greatest
// magnitude. tensor is the scale of the tensor, if there is one.
func (s *Scaling) scale(amax, qmax float32, f tcore.Format, tensor float32) float32 {
	corner := Computed
	if s.Amax != 0 {
		amax = s.Amax
	}
	amax = max(amax, s.Least) // NaN if amax is
	switch {
	case amax == 0:
		corner = s.Zero
	case math.IsInf(float64(amax), 0):
		corner = s.Infinite
	case amax != amax:
		corner = s.NotANumber
	}
	switch corner {
	case One:
		return 1
	case GreatestScale:
		return s.Range[1]
	case NaNScale:
		return float32(math.NaN())
	}
	margin := s.Margin
	if s.Quotient.inverse() {
		margin = -margin
	}
	v := s.Quotient.of(amax, s.aim(qmax), f, tensor)
	if s.Factor != 0 {
		v = float64(float32(v) * s.Factor)
	}
	v = s.Power.of(math.Ldexp(v, margin), f, s.Quotient == AmaxOverPower)
	if s.Range != [2]float32{} && v == v {
		v = min(max(v, float64(s.Range[0])), float64(s.Range[1]))
	}
	return float32(s.Stored.Round(v, tcore.ToNearestEven))
}

// aim returns Aim, or qmax if it is 0.
func (s *Scaling) aim(qmax float32) float32 {
	if s.Aim != 0 {
		return s.Aim
	}
	return qmax
}

// of returns the quotient.
func (q Quotient) of(amax, qmax float32, f tcore.Format, tensor float32) float64 {
	switch q {
	case AmaxTimesInverse:
		return float64(amax * (1 / qmax))
	case AmaxOverPower:
		return math.Ldexp(float64(amax), -f.Emax)
	case MaxOverAmax:
		return float64(qmax / amax)
	case AmaxTimesTensor:
		return float64(amax * float32(tensor*(1/qmax)))
	case AmaxOverTensor:
		return float64(float32(amax/qmax) / tensor)
	case QuotientTimesTensor:
		return float64(float32(amax/qmax) * tensor)
	}
	return float64(amax / qmax)
}

// of returns the power of two for v. shifted reports whether v is 2^-Emax times
// the number whose logarithm is taken.
func (p Power) of(v float64, f tcore.Format, shifted bool) float64 {
	if p == NoPower || v == 0 || math.IsInf(v, 0) || v != v {
		return v
	}
	shift := 0
	if shifted {
		shift = f.Emax
	}
	log := func(round func(float64) float64) float64 {
		return math.Ldexp(1, int(round(float64(float32(math.Log2(math.Ldexp(v, shift))))))-shift)
	}
	down := math.Ldexp(1, math.Ilogb(v))
	switch p {
	case Up:
		if down < v {
			return 2 * down
		}
		return down
	case DownEven:
		return math.Ldexp(1, math.Ilogb(v+math.Ldexp(down, -f.Precision)))
	case UpByLog:
		return log(math.Ceil)
	case DownByLog:
		return log(math.Floor)
	}
	return down
}

// factor returns what elements are multiplied by, or false if they are divided
// by the scale.
func (s *Scaling) factor(scale, tensor float32) (factor float32, ok bool) {
	switch s.Apply {
	case TimesInverse:
		return 1 / scale, true
	case Times:
		return scale, true
	case TimesInverseOfBoth:
		return min(1/float32(scale*float32(1/tensor)), math.MaxFloat32), true
	case TimesQuotient:
		return float32(1/tensor) / scale, true
	}
	return 0, false
}
