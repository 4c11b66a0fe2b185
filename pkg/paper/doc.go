// Package paper computes again what one paper reports: every figure, table and
// numerical claim of S. Bhola and K. Duraisamy, "Deterministic and
// Probabilistic Rounding Error Analysis for Mixed-Precision Arithmetic on
// Modern Computing Units", arXiv:2411.18747v1 (2024).
//
// An experiment is a value that says all it needs (sizes, distribution, seed,
// confidence); Run computes it; its result draws the paper's figure and states
// the paper's claims with a verdict:
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
//	… on a GPU's own         GEMMResult.OnGPU, ProfileResult.OnGPU
//	what is printed wrong    Errata
//
// What goes beyond the paper is in package study.
//
// Errors are measured against the exact result. The paper measures against
// binary64; MACResult and GEMMResult say how far that is from the exact one.
//
// Every random number comes from a PCG generator whose seed is a field of the
// experiment, so a result is the same on every machine and for any number of
// cores, except the rates of Table 3, which are measured times.
package paper

// Seed is the seed of every experiment here unless another is given: the digits
// of the paper's arXiv number, chosen before anything was measured.
const Seed = 241118747

// Confidence is the confidence of every probabilistic bound here unless another
// is given. The paper does not state the one it used.
const Confidence = 0.99
