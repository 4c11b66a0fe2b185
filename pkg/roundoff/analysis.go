package roundoff

// An Analysis bounds |θ_n| for a product of n rounding-error factors,
//
//	(1+δ_1)^±1 (1+δ_2)^±1 ... (1+δ_n)^±1 = 1+θ_n,  |δ_i| <= u.
//
// The lemmas and theorems have an Analysis as argument, so that one formula
// gives the deterministic and the probabilistic statement. The analyses are
// [DBEA], [Unconditional], [VIBEA], [HighamMary] and [MeanIndependent].
type Analysis interface {
	// Theta returns the bound on |θ_n|: γ_n or γ̃_n(λ). It is 0 at n = 0, the empty
	// product, and does not decrease as n grows.
	Theta(n int, u float64) float64

	// Failure returns an upper bound on the log-probability that |θ_n| exceeds
	// Theta for one such product. It is Never at n = 0, and does not increase as n
	// grows from 1; [GEMM.Failure] relies on both properties.
	Failure(n int, u float64) Failure
}

// DBEA is the deterministic backward error analysis: Theta is [Gamma], Failure
// is [Never]. Theta is +Inf where nu >= 1. Its methods panic if n < 0 or u is
// outside (0, 1).
//
// Source: Bhola & Duraisamy 2024, Lemma 1.
var DBEA Analysis = dbea{}

// Unconditional is DBEA without the condition nu < 1: Theta is [Unrestricted],
// Failure is [Never]. Its methods panic if n < 0 or u is outside (0, 1).
//
// differs: the paper has no such analysis, so its theorem gives no bound where
// nu >= 1.
var Unconditional Analysis = unconditional{}

type dbea struct{}

func (dbea) Theta(n int, u float64) float64   { return Gamma(n, u) }
func (dbea) Failure(n int, u float64) Failure { return never(n, u) }

type unconditional struct{}

func (unconditional) Theta(n int, u float64) float64   { return Unrestricted(n, u) }
func (unconditional) Failure(n int, u float64) Failure { return never(n, u) }

func never(n int, u float64) Failure {
	check.Index("n", n)
	check.Unit("u", u)
	return Never
}
