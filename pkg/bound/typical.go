package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// Typical is Bernstein's inequality with variance u²/6, that of errors of
// rounding numbers whose significand is uniform. It uses one event for each
// sequence of roundings.
var Typical = register(Bound{
	Name:    "typical",
	Source:  "Dahlqvist, Salvia & Constantinides 2019; Freedman 1975, Theorem 1.6",
	Formula: `\hat\gamma_n,\quad \sigma^2 \approx u^2/6`,
	Model:   Independent,
	Assumes: "sums of uniform significand",
	Spread:  1.1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.maximal(roundoff.TypicalErrors, f))
	},
})

// Benford is Typical for significands that follow Benford's distribution, with
// variance u²/(8 log 2).
var Benford = register(Bound{
	Name:    "benford",
	Source:  "Dahlqvist, Salvia & Constantinides 2019; Freedman 1975, Theorem 1.6",
	Formula: `\hat\gamma_n,\quad \sigma^2 \approx \frac{u^2}{8\log 2}`,
	Model:   Independent,
	Assumes: "sums whose significand obeys Benford's distribution",
	Spread:  1.1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.maximal(roundoff.BenfordErrors, f))
	},
})
