package roundoff

// An Analysis bounds |θ_n| for a product of n rounding-error factors,
//
//	(1+δ_1)^±1 (1+δ_2)^±1 ... (1+δ_n)^±1 = 1+θ_n,  |δ_i| <= u.
//
// The lemmas and theorems take one, so that the deterministic statement and the
// probabilistic one are the same formula: [DBEA], [Unconditional], [VIBEA],
// [HighamMary].
type Analysis interface {
	// Theta returns the bound on |θ_n|: γ_n or γ̃_n(λ). It does not decrease as n
	// grows, from 0 at n = 0, the empty product.
	Theta(n int, u float64) float64

	// Failure bounds the probability that one such product breaks the bound. It is
	// Never at n = 0, and does not increase as n grows from 1; [GEMM.Failure]
	// relies on that.
	Failure(n int, u float64) Failure
}

// DBEA is the deterministic backward error analysis: Theta is [Gamma], which
// never fails. Where nu >= 1 its Theta is +Inf.
//
// Source: Bhola & Duraisamy 2024, Lemma 1.
var DBEA Analysis = dbea{}

// Unconditional is DBEA without the condition nu < 1: Theta is [Unrestricted],
// which never fails.
//
// differs: the paper has no such analysis, so its theorem is empty where nu >=
// 1.
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
