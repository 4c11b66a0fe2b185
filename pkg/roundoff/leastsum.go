package roundoff

import "math"

// LeastSum returns a lower bound on a sum of n independent random numbers x >=
// 0 with E x >= mean and E x² <= square: the sum is less than kn·square/mean
// with probability at most e^f, where 0 <= k <= p solves
//
//	n(k log(k/p) + (1-k) log((1-k)/(1-p))) = -f,  p = mean²/square.
//
// It is 0 where the equation has no solution, because all n numbers may then be
// 0 with probability above e^f, and where mean = 0 or square = +Inf. Among all
// such x, those with the two values 0 and square/mean have the greatest E
// e^(-θx). Their sum is square/mean times a binomial variable. It panics if n <
// 1, mean is negative or NaN, square < mean², or unless -Inf < f < 0.
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

// divergence returns k log(k/p) + (1-k) log((1-k)/(1-p)), the Kullback-Leibler
// divergence of the Bernoulli distributions with probabilities k and p.
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
