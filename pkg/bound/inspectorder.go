package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/dsp/fourier"
)

// lagsSeen is the name of the finding that says which lag correlations are
// detectable.
const lagsSeen = "lag correlation that is seen"

// order tests whether the order along K is random. For a matrix, unlike for
// products, it must be able to detect a lag correlation of 0.7.
func (s series) order(name string, matrix bool, f roundoff.Failure) []Finding {
	values, sizes := s.ranks(), s.sizes().ranks()
	quarter := f.Split(4)
	found := []Finding{
		values.blocks(name, quarter), values.lags(name, quarter),
		sizes.blocks("sizes of "+name, quarter), sizes.lags("sizes of "+name, quarter),
	}
	if matrix {
		seen := found[1].Power
		found = append(found, Finding{
			Name: lagsSeen, Tests: AnyOrder, Statistic: seen, Limit: leastSeen, Power: seen, Unit: "lag correlation",
			Words: fmt.Sprintf("so few numbers of %s show correlations along K from %.2g on, want %.2g", name, seen, leastSeen),
		})
	}
	return found
}

// blocks tests whether halves of K, quarters and so on have the same mean rank
// as the whole, for ranks of the sums over lines. Under permutations of K, the
// sum over a block is a sum of ranks drawn without replacement: see [rankTail].
func (s series) blocks(name string, f roundoff.Failure) Finding {
	const least = 16
	ranks := series{s.sums()}.ranks()[0]
	K, tests := len(ranks), 0
	for n := K / 2; n >= least; n /= 2 {
		tests += K / n
	}
	each := f.Split(max(1, float64(tests))) // short vectors have no blocks
	z := Finding{Name: "means of blocks of " + name, Tests: AnyOrder, Level: level(f), Limit: 1, Words: "all are equal"}
	worst := 0.0
	for n := K / 2; n >= least; n /= 2 {
		limit := rankTail(float64(n), each)
		if n == K/2 {
			z.Power = (limit + beyond*math.Sqrt(float64(n)/24)) / float64(n)
		}
		for lo := 0; lo+n <= K; lo += n {
			sum := 0.0
			for _, v := range ranks[lo : lo+n] {
				sum += v
			}
			if ratio := math.Abs(sum) / limit; ratio > worst {
				worst, z.Statistic, z.Limit = ratio, math.Abs(sum)/float64(n), limit/float64(n)
				z.Words = fmt.Sprintf("the mean rank of %s over k = %d..%d is %.2g off, at most %.2g in random order",
					name, lo+1, lo+n, z.Statistic, z.Limit)
			}
		}
	}
	return z
}

// rankTail returns a bound on |Σ a b| that fails with probability at most e^f,
// for numbers a with Σ a² = squares and ranks b that are drawn with or without
// replacement. The ranks of different numbers are uniform on a grid in [-1/2,
// 1/2] and strictly sub-Gaussian, of variance at most 1/12. If some numbers are
// equal, their ranks are means of these, and by Jensen's inequality the bound
// is valid for them too.
func rankTail(squares float64, f roundoff.Failure) float64 { return roundoff.Azuma(squares/12, f) }

// lags tests the circular autocorrelations along K.
//
// Let G(k, k') be the inner product of the ranks of all lines at positions k
// and k'. Under permutations of K, a sum of G over n pairs has the mean n E G
// and, except for terms of relative size 1/K, the variance n Var G.
func (s series) lags(name string, f roundoff.Failure) Finding {
	const near = 8
	K := len(s[0])
	z := Finding{Name: "lag correlations of " + name, Tests: AnyOrder, Level: level(f), Limit: 1, Power: nan}
	squares, mean, variance, largest := s.pairs()
	if squares == 0 {
		z.Words, z.Power = "all are equal", 0
		return z
	}
	c := s.autocorrelation()
	half := f.Split(2)
	worst := 0.0
	for lag := 1; lag <= K/2; lag++ {
		each := half.Split(near)
		if lag > near {
			each = half.Split(float64(K/2 - near))
		}
		n, sum := float64(K), c[lag]
		if 2*lag == K {
			n, sum = n/2, sum/2
		}
		limit := roundoff.Bernstein(n*variance, largest, each)
		unit := n / float64(K) * squares
		if lag == 1 {
			z.Power = (limit + beyond*math.Sqrt(n*variance)) / unit
		}
		d := math.Abs(sum - n*mean)
		if ratio := d / limit; ratio >= worst {
			worst, z.Statistic, z.Limit = ratio, d/unit, limit/unit
			z.Words = fmt.Sprintf("lag-%d correlation of %s along K is %.2g, at most %.2g in random order", lag, name, sum/unit, z.Limit)
		}
	}
	return z
}

// pairs returns Σ G(k, k). For k ≠ k' it returns the mean and the variance of
// G(k, k'), and an upper bound of the distance of G(k, k') from the mean.
func (s series) pairs() (squares, mean, variance, largest float64) {
	K := len(s[0])
	at := make([]float64, K) // G(k, k)
	for _, line := range s {
		for k, v := range line {
			at[k] += v * v
		}
	}
	fourth, first, second := 0.0, 0.0, 0.0
	for _, g := range at {
		squares += g
		fourth += g * g
		first, second = max(first, g), max(second, min(first, g))
	}
	all := 0.0 // Σ G², which equals Σ (inner product of two lines)²
	for i, x := range s {
		for j, y := range s[:i+1] {
			sum := 0.0
			for k, v := range x {
				sum += v * y[k]
			}
			if i != j {
				sum *= math.Sqrt2
			}
			all += sum * sum
		}
	}
	n := float64(K) * float64(K-1)
	mean = -squares / n // each line has the sum 0
	variance = max(0, (all-fourth)/n-mean*mean)
	if K*K*len(s) > 1<<25 {
		return squares, mean, variance, math.Sqrt(first*second) - mean
	}
	g := make([]float64, K)
	for k := range K {
		clear(g)
		for _, line := range s {
			v := line[k]
			for l, w := range line[:k] {
				g[l] += v * w
			}
		}
		for _, v := range g[:k] {
			largest = max(largest, math.Abs(v-mean))
		}
	}
	return squares, mean, variance, largest
}

// autocorrelation returns the circular autocorrelations Σ x(k) x(k+lag) for
// lags 0 to K/2, summed over lines.
func (s series) autocorrelation() []float64 {
	K, n := len(s[0]), 1
	for n < 2*K {
		n *= 2
	}
	fft := fourier.NewFFT(n)
	padded, power := make([]float64, n), make([]complex128, n/2+1)
	var coefficients []complex128
	for _, line := range s {
		copy(padded, line)
		coefficients = fft.Coefficients(coefficients, padded)
		for i, c := range coefficients {
			power[i] += complex(real(c)*real(c)+imag(c)*imag(c), 0)
		}
	}
	r := fft.Sequence(nil, power)
	c := make([]float64, K/2+1)
	for lag := range c {
		c[lag] = (r[lag] + r[(K-lag)%K]) / float64(n)
	}
	c[0] = r[0] / float64(n)
	return c
}

// level returns the probability e^f.
func level(f roundoff.Failure) float64 { return math.Exp(float64(f)) }
