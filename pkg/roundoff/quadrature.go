package roundoff

import "math"

// quadrature returns the Gauss rule of n nodes for the standardised sum of count independent
// numbers with the given central moments μ_0 ... μ_(2n-1): it integrates polynomials of degree
// 2n-1 exactly. A law of fewer values than n gets a node for each.
//
// Source: Golub & Welsch 1969; the recurrence by Chebyshev's algorithm (Gautschi 2004, section
// 2.1.7).
func quadrature(moments []float64, count float64) (nodes, weights []float64) {
	n := len(moments) / 2
	if moments[2] <= 0 {
		return []float64{0}, []float64{1}
	}
	α, β := recurrence(standardMoments(moments, count), n)
	return eigen(α, β)
}

// standardMoments returns the moments of the standardised sum, by way of its cumulants.
func standardMoments(μ []float64, count float64) []float64 {
	κ, m := make([]float64, len(μ)), make([]float64, len(μ))
	for n := 2; n < len(μ); n++ {
		κ[n] = μ[n]
		for k := 2; k < n-1; k++ {
			κ[n] -= binomial(n-1, k-1) * κ[k] * μ[n-k]
		}
	}
	m[0] = 1
	deviation := math.Sqrt(count * μ[2])
	for n := 2; n < len(μ); n++ {
		for k := 2; k <= n; k++ {
			standard := κ[k] * count / math.Pow(deviation, float64(k))
			m[n] += binomial(n-1, k-1) * standard * m[n-k]
		}
	}
	return m
}

func binomial(n, k int) float64 {
	z := 1.0
	for i := range k {
		z = z * float64(n-i) / float64(i+1)
	}
	return z
}

// recurrence returns the coefficients of π_(k+1)(x) = (x-α_k) π_k(x) - β_k π_(k-1)(x), the monic
// orthogonal polynomials of moments m_0 ... m_(2n-1): n of each, or fewer if β vanishes.
func recurrence(m []float64, n int) (α, β []float64) {
	const vanishing = 1e-9
	before, now := make([]float64, 2*n), append([]float64{}, m...)
	α, β = []float64{m[1] / m[0]}, []float64{m[0]}
	for k := 1; k < n; k++ {
		next := make([]float64, 2*n)
		for l := k; l < 2*n-k; l++ {
			next[l] = now[l+1] - α[k-1]*now[l] - β[k-1]*before[l]
		}
		b := next[k] / now[k-1]
		if !(b > vanishing) {
			break
		}
		α, β = append(α, next[k+1]/next[k]-now[k]/now[k-1]), append(β, b)
		before, now = now, next
	}
	return α, β
}

// eigen returns the nodes and weights of a recurrence: the eigenvalues of the symmetric
// tridiagonal matrix of α and √β, and the squares of the first components of its
// eigenvectors. The method is that of Jacobi: n is small.
func eigen(α, β []float64) (nodes, weights []float64) {
	n := len(α)
	a, v := square(n), square(n)
	for i := range n {
		a[i][i], v[i][i] = α[i], 1
		if i > 0 {
			a[i][i-1], a[i-1][i] = math.Sqrt(β[i]), math.Sqrt(β[i])
		}
	}
	const sweeps = 12
	for range sweeps {
		for i := range n {
			for j := range i {
				rotate(a, v, i, j)
			}
		}
	}
	for i := range n {
		nodes, weights = append(nodes, a[i][i]), append(weights, v[0][i]*v[0][i])
	}
	return nodes, weights
}

// rotate turns the plane of i and j so that a[i][j] becomes 0.
func rotate(a, v [][]float64, i, j int) {
	if a[i][j] == 0 {
		return
	}
	s, c := math.Sincos(math.Atan2(2*a[i][j], a[i][i]-a[j][j]) / 2)
	for k := range a {
		a[i][k], a[j][k] = c*a[i][k]+s*a[j][k], c*a[j][k]-s*a[i][k]
	}
	for k := range a {
		a[k][i], a[k][j] = c*a[k][i]+s*a[k][j], c*a[k][j]-s*a[k][i]
		v[k][i], v[k][j] = c*v[k][i]+s*v[k][j], c*v[k][j]-s*v[k][i]
	}
	a[i][j], a[j][i] = 0, 0
}

func square(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}
