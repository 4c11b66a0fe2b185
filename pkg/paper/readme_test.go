package paper_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The four lines of the README.
func Example() {
	u := tcore.Binary16.UnitRoundoff()
	λ := roundoff.Lambda(0.99, u, 1024)
	g := roundoff.Gamma(1024, u)
	t := roundoff.GammaTilde(1024, u, λ)
	fmt.Printf("%.4g %.3f %.2g %.2g\n", u, λ, g, t)
	// Output: 0.0004883 1.935 1 0.031
}
