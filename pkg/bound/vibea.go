package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// VIBEAPrinted is the paper's probabilistic theorem on tensor cores with the
// union bound as printed there.
var VIBEAPrinted = register(Bound{
	Name:    "vibea-printed",
	Source:  "Bhola & Duraisamy 2024, theorem on tensor cores, probabilistic",
	Formula: `\text{VIBEA with } \lambda \text{ from the printed } c_1`,
	Model:   UniformErrors,
	Spread:  2,
	Fails: func(k Problem) string {
		if why := notAlgorithm1(k); why != "" {
			return why
		}
		if k.Blocks() > 1 {
			return "its union bound leaves out the products of few factors, which fail most"
		}
		return ""
	},
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := k.gemm().Lambda(f, roundoff.Printed)
		return Value{Constant: k.gemm().Zeta(roundoff.VIBEA{Lambda: λ}), Absolute: math.Inf(1), Lambda: λ}
	},
})

// VIBEA is the paper's probabilistic theorem on tensor cores with the union
// bound corrected.
var VIBEA = register(Bound{
	Name:    "vibea",
	Source:  "Bhola & Duraisamy 2024, theorem on tensor cores, probabilistic, corrected",
	Formula: `\tilde\gamma_{K-1} + \tilde\gamma_q + \tilde\gamma_{K-1}\tilde\gamma_q,\quad MN\sum_{i,j}\left[(1 - P_B(\lambda, \bar u, c_1)) + (1 - P_B(\lambda, u, c_2))\right] = p`,
	Model:   UniformErrors,
	Spread:  2,
	Fails:   notAlgorithm1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := k.gemm().Lambda(f, roundoff.Corrected)
		return Value{Constant: k.gemm().Zeta(roundoff.VIBEA{Lambda: λ}), Absolute: math.Inf(1), Lambda: λ}
	},
})

// VIBEALinear is VIBEA with λ√n u in place of γ̃_n.
var VIBEALinear = register(Bound{
	Name:    "vibea-linear",
	Source:  "Bhola & Duraisamy 2024b, first version, as programmed",
	Formula: `\text{VIBEA with } \lambda\sqrt n\,u \text{ for } \tilde\gamma_n(\lambda)`,
	Model:   UniformErrors,
	Spread:  2,
	Fails: func(Problem) string {
		return "λ√n u leaves out the mean of log(1+δ) and the curvature of exp"
	},
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := k.gemm().Lambda(f, roundoff.Corrected)
		return Value{Constant: k.gemm().Zeta(roundoff.VIBEA{Lambda: λ, Form: roundoff.Linear}), Absolute: math.Inf(1), Lambda: λ}
	},
})

// VIBEAMoment is VIBEA with the exact mean of log(1+δ), only for the roundings
// that occur, and with each event counted once in the union bound.
var VIBEAMoment = register(Bound{
	Name:    "vibea-moment",
	Source:  "Bhola & Duraisamy 2024, Lemma 2, with the exact mean and each event once",
	Formula: `\text{VIBEA with } e^{\lambda\sqrt n\,u + n\lvert\mu_\delta\rvert} - 1 \text{ for } \tilde\gamma_n(\lambda)`,
	Model:   UniformErrors,
	Spread:  2,
	Fails:   notAlgorithm1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := k.gemm().Lambda(f, roundoff.Deduplicated)
		return Value{Constant: k.gemm().ZetaSharp(roundoff.VIBEA{Lambda: λ, Form: roundoff.Moment}), Absolute: math.Inf(1), Lambda: λ}
	},
})

// VIBEAPerEvent gives each event of the theorem the same share of the
// probability of failure.
var VIBEAPerEvent = register(Bound{
	Name:    "vibea-per-event",
	Source:  "Bhola & Duraisamy 2024b, later versions",
	Formula: `\hat\gamma_{K-1} + \hat\gamma_q + \hat\gamma_{K-1}\hat\gamma_q`,
	Model:   UniformErrors,
	Spread:  2,
	Fails:   notAlgorithm1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.gemm().ZetaPerEvent(roundoff.UniformErrors, f))
	},
})

// VIBEAMaximal uses one event for each sequence of roundings: a maximal
// inequality covers all products that meet a part of it.
var VIBEAMaximal = register(Bound{
	Name:    "vibea-maximal",
	Source:  "Bhola & Duraisamy 2024, Lemma 2; Freedman 1975, Theorem 1.6",
	Formula: `\hat\gamma_n = e^{t_n + n\lvert\mu_\delta\rvert} - 1,\quad \sigma^2 \approx u^2/3`,
	Model:   UniformErrors,
	Spread:  2,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return plain(k.maximal(roundoff.UniformErrors, f))
	},
})

// TheoremHighamMary is the paper's theorem on tensor cores with the constants
// of Higham and Mary's analysis.
var TheoremHighamMary = register(Bound{
	Name:    "higham-mary-theorem",
	Source:  "Bhola & Duraisamy 2024, theorem on tensor cores; Higham & Mary 2019, Theorem 2.4",
	Formula: `\tilde\gamma_{K-1} + \tilde\gamma_q + \tilde\gamma_{K-1}\tilde\gamma_q,\quad \lambda = \frac{\sqrt{2\ell}}{1-u}`,
	Model:   Independent,
	Fails:   notAlgorithm1,
	Constant: func(k Problem, f roundoff.Failure) Value {
		λ := k.gemm().HighamMaryLambda(f)
		return Value{Constant: k.gemm().Zeta(roundoff.HighamMary{Lambda: λ}), Absolute: math.Inf(1), Lambda: λ}
	},
})
