package roundoff

import (
	"math"
	"math/bits"
)

// Tree returns u√(2 log(2/(ζ/2)) Σs²) (1+φ), which the absolute error of a sum
// exceeds with probability at most ζ = e^f. The s are the exact sums at the
// nodes of a tree of the given height h and number of nodes, squares = Σs², and
// each node is rounded with an error of mean zero conditionally on those below
// it. Half of the probability of failure is for the first factor, half for
//
//	φ = λ√(2h) u exp(λ²hu²),  λ = √(2 log(2 nodes/(ζ/2))),
//
// which bounds the effect of errors on later errors. A chain of n roundings has
// height n and n nodes. As the |s| of one level add up to at most S = Σ|p|,
// squares is at most hS². It panics if squares is negative or NaN, height or
// nodes < 1, u is outside (0, 1), or unless -Inf < f < 0.
//
// Source: Hallman & Ipsen 2023.
func Tree(squares float64, height, nodes int, u float64, f Failure) float64 {
	check.Count("height", height)
	check.Count("nodes", nodes)
	check.Unit("u", u)
	half, h := f.Split(2), float64(height)
	λ := Azuma(1, half.Split(float64(nodes)))
	φ := λ * math.Sqrt(2*h) * u * math.Exp(λ*λ*h*u*u)
	return u * Azuma(squares, half) * (1 + φ)
}

// PairwiseHeight returns ⌈log₂ n⌉, the least height of a tree of n leaves.
// It panics if n < 1.
func PairwiseHeight(n int) int {
	check.Count("n", n)
	return bits.Len(uint(n - 1))
}

// CompensatedSum returns u + γ_n², the backward constant of a compensated sum
// of n+1 terms: the errors of the additions are accumulated and added to the
// sum at the end, as if it were computed in twice the precision. A compensated
// inner product of n products, whose rounding errors are also accumulated, has
// the same constant (Dot2). It is +Inf where nu >= 1. It panics if n < 1 or u
// is outside (0, 1).
//
// Source: Ogita, Rump & Oishi 2005, Sum2 and Dot2.
func CompensatedSum(n int, u float64) float64 {
	check.Count("n", n)
	γ := Gamma(n, u)
	return u + γ*γ
}
