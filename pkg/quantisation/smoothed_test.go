package quantisation

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/mathext"
)

// The function of majorant's transform is at least exp(-λu), as little above it
// as Graham and Vaaler prove that a function of its frequencies can be, and the
// transform is what a sum over samples has.
func TestMajorant(t *testing.T) {
	for _, λ := range []float64{0.05, 0.4, 3, 20} {
		// value returns the function at u, by the sum of its comment.
		value := func(u float64) float64 {
			sinc2 := func(x float64) float64 {
				if x == 0 {
					return 1
				}
				return math.Pow(math.Sin(math.Pi*x)/(math.Pi*x), 2)
			}
			sum, slopes := 0.0, 0.0
			for n := 1.0; n*λ < 750; n++ {
				f := math.Exp(-λ * n)
				sum += f*sinc2(u-n) - λ*f*(u-n)*sinc2(u-n)
				slopes += λ * f
			}
			return sum + sinc2(u) + slopes*u*sinc2(u)
		}
		for u := -6.03; u < 8; u += 0.061 {
			least := 0.0
			if u >= 0 {
				least = math.Exp(-λ * u)
			}
			if got := value(u); got < least-1e-12 {
				t.Errorf("λ = %v: %v at %v, want at least %v", λ, got, u, least)
			}
			// The transform has the same value, by Simpson's rule.
			const n = 4000
			back := 0.0
			for i := range n + 1 {
				ξ := float64(i) / n
				weight := 2 + 2*float64(i%2)
				if i == 0 || i == n {
					weight = 1
				}
				back += weight / (3 * n) * 2 * real(majorant(λ, ξ)*cmplx.Exp(complex(0, 2*math.Pi*ξ*u)))
			}
			if math.Abs(back-value(u)) > 1e-8*value(0) {
				t.Errorf("λ = %v: %v at %v, of the transform %v", λ, value(u), u, back)
			}
		}
		near(t, "integral", real(majorant(λ, 0)), 1/(1-math.Exp(-λ)), 1e-9/λ)
	}
}

// Of sums whose tails are known, no probability is above its bound, also where
// sums jump, and where they do not it is nearly as large.
func TestSmoothed(t *testing.T) {
	binomial := func(n, x float64) float64 { // of n numbers ±1, that they are x in the mean of all or more
		sum := 0.0
		for k := math.Ceil((n + x) / 2); k <= n; k++ {
			sum += math.Exp(logChoose(n, k) - n*math.Ln2)
		}
		return sum
	}
	for _, sums := range []struct {
		name        string
		coefficient func(j int) float64 // of the moment generating function of a term
		mean        float64
		above       func(n, x float64) float64 // probability that the sum exceeds its mean by x
		below       func(n, x float64) float64
		slack       float64 // how much smaller the probability is than its bound, at most, of long sums
	}{
		{
			"normal", func(j int) float64 { return float64((j+1)%2) * math.Exp(-float64(j/2)*math.Ln2-lgamma(float64(j/2)+1)) }, 0,
			func(n, x float64) float64 { return math.Erfc(x/math.Sqrt(2*n)) / 2 },
			func(n, x float64) float64 { return math.Erfc(x/math.Sqrt(2*n)) / 2 },
			1.4,
		},
		{
			"exponential", func(int) float64 { return 1 }, 1,
			func(n, x float64) float64 { return mathext.GammaIncRegComp(n, n+x) },
			func(n, x float64) float64 { return mathext.GammaIncReg(n, max(n-x, 0)) },
			4,
		},
		{
			"coins", func(j int) float64 { return float64((j+1)%2) * math.Exp(-lgamma(float64(j)+1)) }, 0,
			binomial, binomial,
			1.5,
		},
	} {
		var s series
		for j := range s {
			s[j] = sums.coefficient(j)
		}
		c := &Cumulant{length: 1, unit: 1, most: s.most(), total: 1, mean: sums.mean, pairs: []pair{{share: [4]float64{1}, series: [4]*series{&s}}}}
		for _, n := range []int{1, 3, 20, 1000} {
			for _, f := range []roundoff.Failure{-2, -5, -14, -40} {
				for _, below := range []bool{false, true} {
					tail := sums.above
					if below {
						tail = sums.below
					}
					x, p := c.Smoothed(n, f, below), math.Exp(float64(f))
					if y := c.Tilted(n, f, below); tail(float64(n), y*(1+1e-9)) > p {
						t.Errorf("%d %s, below %v: more than %v, Tilted, has a probability above %v", n, sums.name, below, y, p)
					}
					got := tail(float64(n), x*(1+1e-9)) // but for rounding
					if got > p || n == 1000 && got*sums.slack < p {
						t.Errorf("%d %s, below %v: more than %v has the probability %v, want at most %v, and not below %v of it", n, sums.name, below, x, got, p, 1/sums.slack)
					}
					if y := c.Chernoff(n, f, below); x > y || n == 1000 && x > 0.99*y {
						t.Errorf("%d %s, below %v: %v, Chernoff's bound is %v", n, sums.name, below, x, y)
					}
				}
			}
		}
	}
}

func lgamma(x float64) float64 {
	z, _ := math.Lgamma(x)
	return z
}

func logChoose(n, k float64) float64 { return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) }
