package probe

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Regimes are the ways in which operands are drawn, by their numbers in test
// vectors.
var Regimes = []string{"normal", "outliers", "wide", "cancel", "subnormal", "rawbits", "specials", "overflow", "ties", "zeros"}

// A Sampler draws operands for an instruction. The same seed gives the same
// operands.
type Sampler struct {
	d   tcore.Device
	rng *rand.Rand
}

// NewSampler returns a sampler of operands for d.
func NewSampler(d tcore.Device, seed uint64) *Sampler {
	return &Sampler{d, rand.New(rand.NewPCG(seed, 0x70726f6265))}
}

// Draw fills x and y with codes of A and B and returns a code of C, drawn in
// the regime:
//
//	normal     all from the standard normal distribution
//	outliers   the same, one in eight multiplied by up to 2^12
//	wide       exponents from half the range of the format
//	cancel     products in pairs of opposite sign, some changed in the last place
//	subnormal  subnormal factors of A and c
//	rawbits    any code
//	specials   normal, one in eight an infinity, NaN, zero, or the least or greatest number
//	overflow   exponents from the top of the range
//	ties       small integers beside a c of which their sum is half a unit in the last place, or nearly
//	zeros      two of three are zeros of either sign, the others tiny
//
// It panics if there is no such regime or the lengths differ.
func (s *Sampler) Draw(regime int, x, y []uint64) (c uint64) {
	if regime < 0 || regime >= len(Regimes) {
		panic(fmt.Sprintf("probe: Draw: regime = %d, want 0 to %d", regime, len(Regimes)-1))
	}
	if len(x) != len(y) {
		panic(fmt.Sprintf("probe: Draw: x has %d elements, y has %d", len(x), len(y)))
	}
	a, b, f := s.d.A, s.d.B, s.d.C
	if regime == 3 {
		return s.cancel(x, y)
	}
	for k := range x {
		x[k] = s.factor(regime, a)
		y[k] = s.factor(regime, b)
		if regime == 4 || regime == 9 && y[k] != 0 {
			y[k] = code(b, s.scaled(b, b.Emin, b.Emax/2))
		}
	}
	switch regime {
	case 2:
		return code(f, s.scaled(f, max(a.Emin+b.Emin, f.Emin)/2, min(a.Emax+b.Emax, f.Emax)/2))
	case 8:
		top := f.Precision + s.rng.IntN(3) - 1
		return code(f, s.sign()*clamp(f, math.Ldexp(1, top)+float64(s.rng.IntN(4))))
	}
	return s.factor(regime, f)
}

// factor returns a code of f.
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

// cancel draws products that cancel in pairs, of which a quarter is changed in
// the last place.
func (s *Sampler) cancel(x, y []uint64) (c uint64) {
	a, b, f := s.d.A, s.d.B, s.d.C
	order := s.rng.Perm(len(x))
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
	if s.rng.IntN(2) == 0 {
		return code(f, 0)
	}
	return code(f, s.scaled(f, f.Emin/4, f.Emax/4))
}

// raw returns any code of f.
func (s *Sampler) raw(f tcore.Format) uint64 {
	n := s.rng.Uint64()
	if f.Name == tcore.TF32.Name {
		return n & (1<<32 - 1<<13)
	}
	return n >> (64 - f.Bits())
}

// special returns a code of a number that is a case of its own.
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

// scaled returns a random number of f with an exponent of lo to hi.
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

// clamp returns the number of f nearest to x, at most Max in magnitude.
func clamp(f tcore.Format, x float64) float64 {
	limit := f.Max()
	return f.Round(min(max(x, -limit), limit), tcore.ToNearestEven)
}

// clampNaN returns x or, if f has no such value, zero.
func clampNaN(f tcore.Format, x float64) float64 {
	if f.Specials == tcore.FiniteOnly {
		return 0
	}
	return f.Round(x, tcore.ToNearestEven)
}
