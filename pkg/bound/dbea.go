package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// DBEA is the paper's deterministic theorem, ζ = γ_(K-1) + γ_q + γ_(K-1)γ_q.
var DBEA = register(Bound{
	Name:    "dbea",
	Source:  "Bhola & Duraisamy 2024, theorem on tensor cores, deterministic",
	Formula: `\gamma_{K-1} + \gamma_q + \gamma_{K-1}\gamma_q`,
	Model:   Nearest,
	Fails:   notAlgorithm1,
	Constant: func(k Problem, _ roundoff.Failure) Value {
		return plain(k.gemm().Zeta(roundoff.DBEA))
	},
})
