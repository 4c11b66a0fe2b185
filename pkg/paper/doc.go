// Package paper recomputes the results of one paper: every figure, table and
// numerical claim of S. Bhola and K. Duraisamy, "Deterministic and
// Probabilistic Rounding Error Analysis for Mixed-Precision Arithmetic on
// Modern Computing Units", arXiv:2411.18747v1 (2024).
//
// An experiment is a value that contains all its parameters (sizes,
// distribution, seed, confidence). Its method Run computes the result. The
// result draws the paper's figure and returns the paper's claims with a verdict
// on each:
//
//	mac := paper.DefaultMAC.Run()
//	nb.Show(mac.Figure())             // Figure 5
//	nb.Show(paper.ClaimTable("figure-5", mac.Claims()))
//
//	paper                    here
//	Table 1                  FormatTable
//	Lemmas 1 and 2           Product.Run, GrowthFigure, VarianceFigure
//	Section 3.1, 3.2         Lemmas.Run
//	Table 2, Algorithm 1     TensorCoreTable, RoundingsTable
//	Theorems of Section 3.3  TheoremTable, TheoremFigure
//	Figure 5                 MAC.Run, MACResult.Figure
//	Table 3                  Table3, ProfileResult.Table
//	Figure 6                 GEMM.Run, GEMMResult.Figure
//	numbers in the text      AllClaims
//	the same on a GPU        GEMMResult.OnGPU, ProfileResult.OnGPU
//	mistakes in the paper    Errata
//
// Experiments that go beyond the paper are in package study.
//
// Errors are measured against the exact result. The paper measures them against
// a result in binary64; the field Float64 of [GEMMResult] is the distance
// between the two.
//
// Every random number comes from a PCG generator, whose seed is a field of the
// experiment or the constant [Seed]. A result is therefore the same on every
// machine and for any number of cores, except the rates of Table 3, which are
// measured times.
package paper

// Seed is the seed of every experiment here unless another is given. It
// consists of the digits of the paper's arXiv number and was chosen before the
// first measurement.
const Seed = 241118747

// Confidence is the confidence of every probabilistic bound here unless another
// is given.
//
// differs: the paper does not state the confidence of its experiments.
const Confidence = 0.99
