package tcore

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/limbs"
)

// RoundingMode says which of its two neighbours in a format replaces a number
// that is not in the format. The zero value is the mode of the paper's fl.
// Rounding a nonzero finite number panics if the mode is none of the constants.
type RoundingMode int

const (
	ToNearestEven RoundingMode = iota // IEEE 754 roundTiesToEven
	ToNearestAway                     // IEEE 754 roundTiesToAway
	ToZero                            // IEEE 754 roundTowardZero
	ToPositive                        // IEEE 754 roundTowardPositive
	ToNegative                        // IEEE 754 roundTowardNegative
	ToOdd                             // to the neighbour with an odd last bit (von Neumann)
)

// stochastic is the mode of [Stochastic], which needs a random number.
const stochastic RoundingMode = -1

var modeNames = [...]string{"ToNearestEven", "ToNearestAway", "ToZero", "ToPositive", "ToNegative", "ToOdd"}

// String returns the Go name of the mode.
func (m RoundingMode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("RoundingMode(%d)", int(m))
	}
	return modeNames[m]
}

// Round returns fl(x), x rounded to f under the mode, as a float64. A zero
// keeps its sign and a NaN stays a NaN, if the format has them. An infinity
// becomes the value that [Overflow] describes.
func (f Format) Round(x float64, mode RoundingMode) float64 {
	if math.IsNaN(x) {
		return f.nan(x)
	}
	if math.IsInf(x, 0) {
		return f.infinity(x < 0)
	}
	return f.round(unpack(x), mode)
}

// unrounded is the number (-1)^neg × sig × 2^exp before it is rounded to a
// format. If sig uses all its 64 bits, the last one is sticky: it is set if any
// lower bit was cut off. A format keeps at most 53 of the 64 bits, so a sticky
// bit is always below the half bit.
type unrounded struct {
	neg bool
	sig uint64
	exp int
}

// unpack returns the finite number x in the form of unrounded.
func unpack(x float64) unrounded {
	neg, sig, exp := limbs.Unpack(x)
	return unrounded{neg: neg, sig: sig, exp: exp}
}

// round rounds x by one of the exported modes.
func (f *Format) round(x unrounded, mode RoundingMode) float64 {
	if mode == stochastic {
		mode.invalid()
	}
	return f.roundRandom(x, mode, 0)
}

// roundRandom is the one rounding routine. Mode stochastic uses the random
// number, a fraction in units of 2^-64; the other modes ignore it.
func (f *Format) roundRandom(x unrounded, mode RoundingMode, random uint64) float64 {
	f.check()
	if x.sig == 0 {
		return f.zero(x.neg)
	}

	// Normalise: the leading bit weighs 2^(exp+63).
	lz := bits.LeadingZeros64(x.sig)
	sig, exp := x.sig<<lz, x.exp-lz

	// Place the quantum 2^q and cut there.
	q := max(exp+63, f.Emin) - f.Precision + 1
	n, rest := cut(sig, q-exp)

	// Round.
	if mode.increments(x.neg, n&1, rest, random) {
		n++
	}

	// Underflow.
	if n < f.minNormalSignificand() && (n == 0 || f.Subnormals != Kept) {
		if x.neg && f.Sign != Signed && f.Subnormals == NoZero {
			return f.negative()
		}
		return f.zero(x.neg)
	}

	// Overflow.
	if top := f.maxQuantum(); q > top || q == top && n > f.maxSignificand() {
		if x.neg && f.Sign == TwosComplement {
			return -f.greatest()
		}
		if mode.towardZero(x.neg) && (f.Sign == Signed || !x.neg) {
			return signed(f.Max(), x.neg)
		}
		return f.infinity(x.neg)
	}
	if x.neg && f.Sign != Signed && f.Sign != TwosComplement {
		return f.negative()
	}
	return signed(float64(n)*exp2(q), x.neg)
}

// cut returns the quotient and the rest of x × 2^-n for n >= 1. The rest is a
// fraction in units of 2^-64; its last bit is set if any lower bit was cut off.
func cut(x uint64, n int) (quotient, rest uint64) {
	if n > 64 {
		return 0, shiftRightJam(x, n-64)
	}
	return x >> n, x << (64 - n)
}

// increments reports whether a magnitude of n quanta and a rest, in units of
// 2^-64 quanta, is rounded to n+1 quanta. The last bit of rest is sticky. odd
// is the last bit of n.
func (m RoundingMode) increments(neg bool, odd, rest, random uint64) bool {
	const half = 1 << 63
	switch m {
	case ToNearestEven:
		return rest > half || rest == half && odd == 1
	case ToNearestAway:
		return rest >= half
	case ToZero:
		return false
	case ToPositive:
		return rest != 0 && !neg
	case ToNegative:
		return rest != 0 && neg
	case ToOdd:
		return rest != 0 && odd == 0
	case stochastic:
		_, carry := bits.Add64(rest, random, 0)
		return carry == 1
	}
	m.invalid()
	return false
}

func (m RoundingMode) invalid() {
	panic(fmt.Sprintf("tcore: mode = %v, want ToNearestEven to ToOdd", m))
}

// towardZero reports whether a number of the given sign that overflows is
// rounded to ±Max, not to infinity.
func (m RoundingMode) towardZero(neg bool) bool {
	return m == ToZero || m == ToOdd || m == ToPositive && neg || m == ToNegative && !neg
}

// shiftRightJam returns x × 2^-n, with the last bit set if any nonzero bit is
// shifted out.
func shiftRightJam(x uint64, n int) uint64 {
	if n >= 64 {
		return b2u(x != 0)
	}
	return x>>n | b2u(x<<(64-n) != 0)
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
