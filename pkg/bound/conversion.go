package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A conversion is what is known, better than the worst case, of converting A
// and B to the formats of a device, for all outputs, underflow included:
//
//	|ÂB̂ - AB| <= error |A||B|,  |Â||B̂| <= sizes |A||B| + tiny
type conversion struct {
	error, sizes, tiny float64
	random             bool // it holds with a probability; otherwise always
}

// better returns what a bound is to use in place of the worst case of
// converting A and B, and false if there is nothing better: what is known of
// given matrices, or of weights, or [Problem.averaged].
func (k Problem) better(b Bound, f roundoff.Failure, always bool) (conversion, bool) {
	if k.converts() {
		return k.Given.conversion(k.Device), true
	}
	if k.weighs() && b.Constant != nil {
		c := k.Weights.conversion(k, f.Split(2))
		return conversion{c, 1 + k.conversion(), k.converting(), true}, c < k.conversion()
	}
	c, ok := k.averaged(b, f, always)
	return conversion{c, 1 + k.conversion(), k.converting(), true}, ok
}

// converts reports whether the error of converting A and B is known since they
// are given. Rows of A and columns of B that are longer than those given are
// taken to go on like them.
func (k Problem) converts() bool {
	return k.Given != nil && k.Represented && k.Recipes == nil && k.Device.ScaleBlock == 0 && k.K >= k.Given.A.Cols
}

// wholeConverted returns the constant of an output, what underflow adds, and
// the parts of the constant, given the constant of each chain. The sums, of
// error at most z|Â||B̂|, are those of the converted factors.
func (k Problem) wholeConverted(chain float64, c conversion) (constant, underflow float64, p Parts) {
	sums := k
	sums.Represented = false
	z, p := sums.whole(chain)
	if math.IsNaN(z) || math.IsInf(z, 1) {
		return z, 0, p
	}
	p = Parts{Conversion: c.error, Accumulation: p.Accumulation * c.sizes, Merging: p.Merging * c.sizes, Storing: p.Storing * c.sizes}
	return p.Sum(), sums.underflow(z) + z*c.tiny, p
}
