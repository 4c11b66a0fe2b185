package exact

import (
	"math"

	"github.com/roundofflab/roundoff/internal/limbs"
)

// A float is the number (-1)^neg × sig × 2^exp.
type float struct {
	neg bool
	sig uint64
	exp int
}

// unpack returns x as a float. x must be finite.
func unpack(x float64) float {
	neg, sig, exp := limbs.Unpack(x)
	return float{neg, sig, exp}
}

func finite(x float64) bool { return !math.IsNaN(x - x) }
