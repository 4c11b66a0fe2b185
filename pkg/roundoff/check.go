package roundoff

import "github.com/roundofflab/roundoff/internal/argument"

// check panics about arguments of this package.
const check = argument.Package("roundoff")

// checkFailure panics unless f is the logarithm of a probability between 0 and
// 1.
func checkFailure(f Failure) {
	check.Number("failure", float64(f), Never < f && f < 0, "-Inf < failure < 0, a logarithm, as FailureOf(0.99) is")
}
