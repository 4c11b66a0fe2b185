// Package roundoff is the mathematics of the paper
//
//	S. Bhola, K. Duraisamy, Deterministic and Probabilistic Rounding Error Analysis for
//	Mixed-Precision Arithmetic on Modern Computing Units, arXiv:2411.18747v1, 2024:
//
// bounds on the rounding errors of multiply-accumulate (MAC), fused
// multiply-add (FMA), mixed-precision FMA (MPFMA) and matrix multiplication on
// tensor cores; and other published bounds. Of formats it takes unit roundoffs.
// It rounds nothing: package tcore does.
//
// A constant bounds a product of rounding-error factors, and an [Analysis]
// pairs a constant with the probability that it fails. Each lemma and theorem
// takes an Analysis: with [DBEA] it is the deterministic statement of the
// paper, with a [VIBEA] the probabilistic one.
//
//	paper                      Go                              where in the paper
//	u                          UnitRoundoff                    section 2.1
//	γ_n                        Gamma                           Lemma 1
//	(1-u)^-n - 1               Unrestricted                    not there: no condition nu < 1
//	(1+u)^n - 1                Compound                        not there: no reciprocals
//	a + b + ab                 Compose                         section 3.3, "Lemma 3.3"
//	γ̃_n(λ)                     GammaTilde, -Linear, -Moment    Lemma 2, not defined there
//	σ²/n                       LogVariance                     Lemma 2
//	1 - P_B(λ, u, n)           VIBEAFailure                    Lemma 2
//	λ                          Lambda, GEMM.Lambda             not reported
//	u_low, u_high, ũ, ū, u_FMA Roundoffs, TensorCoreF32, -F16  Table 2
//	MAC without FMA            MAC                             plotted, not stated
//	FMA                        FMA, FMARepresented             section 3.1
//	MPFMA                      MPFMA, -Special, -Represented   section 3.2
//	MPFMA, rounded once        MPFMASpecialRepresented         not there: with representation error
//	ζ of the tensor cores      GEMM.Zeta, .ZetaRepresented     section 3.3, theorems
//	ζ of roundings that occur  GEMM.ZetaSharp, -Represented    not there
//	1 - mt(Σ 2 - P_B - P_B)    GEMM.Failure                    section 3.3, theorems
//
// "Represented" means: with representation error, the operands being rounded
// first.
//
// Other bounds for sums and products, of which [ErrorModel], [MeanIndependent],
// [SumOfNearest], [Tree], [RandomData] and [CompensatedSum] are the formulas,
// rest on [Azuma] and [Bernstein]. Package bound says which of them hold on
// which machine, package truncation has those of machines that cut bits off.
//
// # Which bound to use
//
// A probabilistic bound is not always the smaller one. For one product at 90,
// 95 and 99 % γ̃_n beats γ_n from n = 4, 5 and 8 on (u small); every FMA and
// MPFMA has n = 2, where the deterministic bound wins. Report the smaller of
// the two. All bounds assume rounding to nearest without underflow or overflow.
// Tensor cores that truncate are outside the lemmas.
//
// # Errata
//
// The default is the corrected formula; what is printed can be asked for by
// name, [Printed] and [LogVariancePrinted]. Doc comments say "differs:" where
// we depart from the paper.
//
// # Evaluation
//
// Bounds are evaluated in float64 and not rounded outward: they may be some
// units in the last place too small. No bound is clipped: where none exists it
// is +Inf, and a relative error bound above 1 is returned as it is.
// Probabilities are kept as logarithms of failures, see [Failure]. A caller's
// mistake, such as n < 0 or u outside (0, 1), panics. A product of no factors,
// n = 0, is 1: its constants are 0, its failure is [Never].
//
// # References
//
//   - N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
//     SIAM, 2002.
//   - N. J. Higham, T. Mary, A New Approach to Probabilistic Rounding Error
//     Analysis, SIAM J. Sci. Comput. 41(5), 2019, A2815-A2835.
package roundoff
