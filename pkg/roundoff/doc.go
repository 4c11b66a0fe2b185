// Package roundoff computes the rounding error bounds of the paper
//
//	S. Bhola, K. Duraisamy, Deterministic and Probabilistic Rounding Error Analysis for
//	Mixed-Precision Arithmetic on Modern Computing Units, arXiv:2411.18747v1, 2024.
//
// The bounds are on multiply-accumulate (MAC), fused multiply-add (FMA),
// mixed-precision FMA (MPFMA) and matrix multiplication on tensor cores. The
// package also contains other published bounds. A format enters only through
// its unit roundoff. This package performs no rounding; package tcore emulates
// machines that do.
//
// A constant, such as γ_n, bounds a product of rounding-error factors. An
// [Analysis] pairs a constant with the probability that the bound fails. The
// functions for the lemmas and theorems have an Analysis as argument: with
// [DBEA] they give the deterministic statement of the paper, with a [VIBEA] the
// probabilistic one.
//
//	paper                      Go                              where in the paper
//	u                          UnitRoundoff                    section 2.1
//	γ_n                        Gamma                           Lemma 1
//	(1-u)^-n - 1               Unrestricted                    not in the paper; needs no nu < 1
//	(1+u)^n - 1                Compound                        not in the paper; needs factors without reciprocals
//	a + b + ab                 Compose                         section 3.3, "Lemma 3.3"
//	γ̃_n(λ)                     GammaTilde, -Linear, -Moment    Lemma 2, not defined there
//	σ²/n                       LogVariance                     Lemma 2
//	1 - P_B(λ, u, n)           VIBEAFailure                    Lemma 2
//	λ                          Lambda, GEMM.Lambda             not reported
//	u_low, u_high, ũ, ū, u_FMA Roundoffs, TensorCoreF32, -F16  Table 2
//	MAC without FMA            MAC                             plotted, not stated
//	FMA                        FMA, FMARepresented             section 3.1
//	MPFMA                      MPFMA, -Special, -Represented   section 3.2
//	MPFMA, rounded once        MPFMASpecialRepresented         not in the paper, which has no representation error here
//	ζ of the tensor cores      GEMM.Zeta, .ZetaRepresented     section 3.3, theorems
//	ζ of roundings that occur  GEMM.ZetaSharp, -Represented    not in the paper
//	1 - mt(Σ 2 - P_B - P_B)    GEMM.Failure                    section 3.3, theorems
//
// "Represented" means with representation error: the operands are first rounded
// from a higher precision.
//
// [ErrorModel], [MeanIndependent], [SumOfNearest], [Tree], [RandomData] and
// [CompensatedSum] are the formulas of other bounds for sums and products. The
// probabilistic ones use the inequalities [Azuma] and [Bernstein]. Package
// bound states which bounds are valid on which machine. Package truncation
// contains bounds for machines that truncate.
//
// # Which bound to use
//
// A probabilistic bound is not always the smaller one. For one product of n
// factors and small u, γ̃_n is smaller than γ_n only for n >= 4, 5 and 8 at a
// confidence of 90, 95 and 99 %. Every FMA and MPFMA has n = 2, where the
// deterministic bound is smaller. Report the smaller of the two. The bounds of
// the paper assume rounding to nearest without underflow or overflow. The
// lemmas do not apply to tensor cores that truncate.
//
// # Errata
//
// Where the paper contains an error, the default is the corrected formula. The
// printed formulas are available as [Printed] and [LogVariancePrinted]. Doc
// comments mark departures from the paper with "differs:".
//
// # Evaluation
//
// Bounds are evaluated in float64 and not rounded outward: they may be some
// units in the last place too small. No bound is clipped: a relative error
// bound above 1 is returned as it is, and a bound that does not exist is +Inf.
// Probabilities are represented by the logarithm of the probability of failure,
// see [Failure]. Functions panic on invalid arguments, such as n < 0 or u
// outside (0, 1). A product of no factors, n = 0, is 1: its constants are 0,
// its failure is [Never].
//
// # References
//
//   - N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
//     SIAM, 2002.
//   - N. J. Higham, T. Mary, A New Approach to Probabilistic Rounding Error
//     Analysis, SIAM J. Sci. Comput. 41(5), 2019, A2815-A2835.
package roundoff
