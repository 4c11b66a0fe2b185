package roundoff

import "github.com/roundofflab/roundoff/internal/argument"

// check validates arguments of this package, and panics if they are invalid.
const check = argument.Package("roundoff")

// checkFailure panics unless -Inf < f < 0, so that f is the logarithm of a
// probability strictly between 0 and 1.
func checkFailure(f Failure) {
	check.Number("failure", float64(f), Never < f && f < 0, "-Inf < failure < 0, a logarithm, as FailureOf(0.99) is")
}
