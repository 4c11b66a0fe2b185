package probe

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Regimes are the names of the distributions of operands, in the order of their
// numbers in test vectors. [Sampler.Draw] defines them.
var Regimes = []string{"normal", "outliers", "wide", "cancel", "subnormal", "rawbits", "specials", "overflow", "ties", "zeros"}

// A Sampler draws random operands for an instruction. The same seed gives the
// same operands.
type Sampler struct {
	d   tcore.Device
	rng *rand.Rand
}

// NewSampler returns a sampler of operands for the formats of d.
func NewSampler(d tcore.Device, seed uint64) *Sampler {
	return &Sampler{d, rand.New(rand.NewPCG(seed, 0x70726f6265))}
}

// newGridSampler returns the sampler of the grid with the given index.
func newGridSampler(d tcore.Device, seed uint64, index int) *Sampler {
	return &Sampler{d, rand.New(rand.NewPCG(seed, 0x67726964<<32+uint64(index)))}
}

// Draw fills x with codes of A and y with codes of B, and returns a code of C.
// The operands are drawn from the regime of that number:
//
//	normal     all from the standard normal distribution
//	outliers   as normal, one in eight multiplied by a power of two of at most 2^12
//	wide       exponents from the middle half of the range of the format
//	cancel     products in pairs of equal magnitude and opposite sign, a quarter changed in the last place
//	subnormal  factors of A and c subnormal; factors of B of exponents Emin to Emax/2
//	rawbits    uniform over all codes
//	specials   as normal, one in eight an infinity, a NaN, a zero, or the least or greatest number
//	overflow   exponents Emax-2 to Emax
//	ties       multiples of 1/2 up to 3, and a c with last place 1, 2 or 4: sums near a tie
//	zeros      in A and C two of three are ±0, the others tiny; in B some are +0, the others up to Emax/2
//
// Operands of a device of integers, a [tcore.WrappedSum], are:
//
//	normal     normally distributed, of a third of the range, saturated; c with 2^15 in place of that
//	outliers   as normal, factors of 4, one in eight any factor
//	wide       of either sign and any number of bits
//	cancel     products in pairs of equal magnitude and, if a format has a sign, opposite sign, a quarter changed by a factor's unit
//	subnormal  -1, 0 and 1
//	rawbits    uniform over all codes
//	specials   as normal, one in eight one of the two least or greatest numbers
//	overflow   the two least or greatest numbers, a quarter with all products equal; c within 2^20 of ±2^31
//	ties       ±1 and zeros; c one of the two least or greatest numbers
//	zeros      two of three are 0, the others any; a quarter with all products 0
//
// It panics if regime is not an index of [Regimes] or if the lengths differ.
func (s *Sampler) Draw(regime int, x, y []uint64) (c uint64) {
	if regime < 0 || regime >= len(Regimes) {
		panic(fmt.Sprintf("probe: Draw: regime = %d, want 0 to %d", regime, len(Regimes)-1))
	}
	if len(x) != len(y) {
		panic(fmt.Sprintf("probe: Draw: x has %d elements, y has %d", len(x), len(y)))
	}
	s.factors(regime, s.order(regime, len(x)), x, y)
	return s.addend(regime)
}

// order returns in which order the regime draws products in pairs, or nil if it
// does not.
func (s *Sampler) order(regime, k int) []int {
	if regime != 3 {
		return nil
	}
	return s.rng.Perm(k)
}

// factors fills x and y with codes of factors.
func (s *Sampler) factors(regime int, order []int, x, y []uint64) {
	if sumsIntegers(s.d) {
		s.integerFactors(regime, order, x, y)
		return
	}
	if regime == 3 {
		s.cancel(order, x, y)
		return
	}
	a, b := s.d.A, s.d.B
	for k := range x {
		x[k] = s.factor(regime, a)
		y[k] = s.factor(regime, b)
		if regime == 4 || regime == 9 && y[k] != 0 {
			y[k] = code(b, s.scaled(b, b.Emin, b.Emax/2))
		}
	}
}

// addend returns a code of C.
func (s *Sampler) addend(regime int) uint64 {
	if sumsIntegers(s.d) {
		return s.integerAddend(regime)
	}
	a, b, f := s.d.A, s.d.B, s.d.C
	switch regime {
	case 2:
		return code(f, s.scaled(f, max(a.Emin+b.Emin, f.Emin)/2, min(a.Emax+b.Emax, f.Emax)/2))
	case 3:
		if s.rng.IntN(2) == 0 {
			return code(f, 0)
		}
		return code(f, s.scaled(f, f.Emin/4, f.Emax/4))
	case 8:
		top := f.Precision + s.rng.IntN(3) - 1
		return code(f, s.sign()*clamp(f, math.Ldexp(1, top)+float64(s.rng.IntN(4))))
	}
	return s.factor(regime, f)
}

// factor returns a code of f, drawn from the regime.
func (s *Sampler) factor(regime int, f tcore.Format) uint64 {
	x := s.rng.NormFloat64()
	rare := s.rng.IntN(8) == 0
	switch {
	case regime == 1 && rare:
		x *= math.Ldexp(1, s.rng.IntN(13))
	case regime == 2:
		x = s.scaled(f, f.Emin/2, f.Emax/2)
	case regime == 4:
		x = s.sign() * math.Ldexp(float64(s.rng.IntN(1<<min(f.Precision-1, 52))), f.Emin-f.Precision+1)
	case regime == 5:
		return s.raw(f)
	case regime == 6 && rare:
		return s.special(f)
	case regime == 7:
		x = s.scaled(f, f.Emax-2, f.Emax)
	case regime == 8:
		x = s.sign() * math.Ldexp(float64(s.rng.IntN(4)), -s.rng.IntN(2))
	case regime == 9 && s.rng.IntN(3) > 0:
		x = math.Copysign(0, s.sign())
	case regime == 9:
		x = s.scaled(f, f.Emin, f.Emin/2)
	}
	return code(f, clamp(f, x))
}

// cancel draws products in pairs that cancel exactly, except that a quarter of
// the pairs has one factor changed in the last place. The order says which
// products are a pair.
func (s *Sampler) cancel(order []int, x, y []uint64) {
	a, b := s.d.A, s.d.B
	for i := 0; i < len(x); i += 2 {
		u, v := s.scaled(a, a.Emin/2, a.Emax/2), s.scaled(b, b.Emin/2, b.Emax/2)
		x[order[i]], y[order[i]] = code(a, u), code(b, v)
		if i+1 == len(x) {
			break
		}
		if s.rng.IntN(4) == 0 {
			v = clamp(b, v*(1+2*b.UnitRoundoff()))
		}
		x[order[i+1]], y[order[i+1]] = code(a, -u), code(b, v)
	}
}

// raw returns a code of f, uniform over all of them.
func (s *Sampler) raw(f tcore.Format) uint64 {
	n := s.rng.Uint64()
	if f.Name == tcore.TF32.Name {
		return n & (1<<32 - 1<<13)
	}
	return n >> (64 - f.Bits())
}

// special returns a code of an infinity, a NaN, a zero, the least or the
// greatest number.
func (s *Sampler) special(f tcore.Format) uint64 {
	switch s.rng.IntN(6) {
	case 0:
		return code(f, clampNaN(f, math.Inf(1)))
	case 1:
		return code(f, clampNaN(f, math.Inf(-1)))
	case 2:
		return code(f, clampNaN(f, math.NaN()))
	case 3:
		return code(f, math.Copysign(0, s.sign()))
	case 4:
		return code(f, s.sign()*f.MinSubnormal())
	}
	return code(f, s.sign()*f.Max())
}

// scaled returns a random number of f with an exponent from lo to hi, of either
// sign.
func (s *Sampler) scaled(f tcore.Format, lo, hi int) float64 {
	e := lo + s.rng.IntN(hi-lo+1)
	return clamp(f, s.sign()*math.Ldexp(1+s.rng.Float64(), e))
}

func (s *Sampler) sign() float64 {
	if s.rng.IntN(2) == 0 {
		return -1
	}
	return 1
}

// clamp rounds x to the nearest number of f of magnitude at most Max.
func clamp(f tcore.Format, x float64) float64 {
	limit := f.Max()
	return f.Round(min(max(x, -limit), limit), tcore.ToNearestEven)
}

// clampNaN returns x, an infinity or a NaN, or zero if f has no infinities and
// NaN.
func clampNaN(f tcore.Format, x float64) float64 {
	if f.Specials == tcore.FiniteOnly {
		return 0
	}
	return f.Round(x, tcore.ToNearestEven)
}
