package roundoff

import "math"

// LeastSum returns what a sum of n independent numbers is below with
// probability at most e^f, none of which is negative, of mean E x >= mean and
// with E x² <= square: kn·square/mean, where
//
//	n(k log(k/p) + (1-k) log((1-k)/(1-p))) = -f,  p = mean²/square.
//
// It is 0 where so few numbers may all be 0. Of all such numbers those that are
// 0 or square/mean have the greatest E e^(-θx), and their sum is binomial. It
// panics if n < 1, mean is negative or NaN, square < mean², or unless -Inf < f
// < 0.
//
// Source: Hoeffding 1963, Theorem 3, for mean - x, which is at most mean.
func LeastSum(n int, mean, square float64, f Failure) float64 {
	check.Count("n", n)
	check.NotNegative("mean", mean)
	checkFailure(f)
	check.Number("square", square, square >= mean*mean, "square >= mean²")
	if mean == 0 || math.IsInf(square, 1) {
		return 0
	}
	p, h := mean*mean/square, -float64(f)/float64(n)
	low, high := 0.0, p // the divergence falls from k = 0 to p
	for range 64 {
		if k := (low + high) / 2; divergence(k, p) > h {
			low = k
		} else {
			high = k
		}
	}
	return low * float64(n) * (square / mean)
}

// divergence returns k log(k/p) + (1-k) log((1-k)/(1-p)), that of Kullback and
// Leibler between coins.
func divergence(k, p float64) float64 {
	d := 0.0
	if k > 0 {
		d = k * math.Log(k/p)
	}
	if k < 1 {
		d += (1 - k) * (math.Log1p(-k) - math.Log1p(-p))
	}
	return d
}
