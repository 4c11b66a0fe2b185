package plan_test

import (
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// data draws k factors of a row of A, or of a column of B, in a format. The
// rows and the columns of a product have equal where, positions that it begins
// with.
type data func(rng *rand.Rand, f tcore.Format, where []int, k int, ofA bool) []float64

var kinds = map[string]data{
	"normal": func(rng *rand.Rand, f tcore.Format, _ []int, k int, _ bool) []float64 {
		return each(k, func(int) float64 { return 0.3 * rng.NormFloat64() })
	},
	"ramp": func(_ *rand.Rand, _ tcore.Format, _ []int, k int, ofA bool) []float64 {
		return each(k, func(i int) float64 {
			x := math.Pow(10, 6*float64(i)/float64(k)-3) // 10^±3
			if ofA && i%2 == 1 {
				return -x
			}
			return x
		})
	},
	// Great terms that cancel, and small ones that are lost where they meet them.
	"1024": few(32, -32, 0x1p-7),
	"2^24": few(0x1p8, -0x1p8, 1), // in e4m3 2^16
	"dense": func(rng *rand.Rand, _ tcore.Format, where []int, k int, ofA bool) []float64 {
		x := each(k, func(int) float64 { return math.Ldexp(rng.Float64()-0.5, -rng.IntN(12)) })
		for n, i := range where {
			x[i] = 128
			if ofA && n%2 == 1 {
				x[i] = -128
			}
		}
		return x
	},
	"small": func(rng *rand.Rand, f tcore.Format, _ []int, k int, _ bool) []float64 {
		least := f.MinSubnormal()
		return each(k, func(int) float64 {
			switch rng.IntN(6) {
			case 0:
				return math.Copysign(0, -1)
			case 1:
				return 0
			case 2:
				return f.MinNormal() * rng.NormFloat64()
			case 3:
				return rng.NormFloat64()
			}
			return least * float64(rng.IntN(9)-4)
		})
	},
	// Sums that are -0, since their products underflow or are -0.
	"negative zeros": func(rng *rand.Rand, f tcore.Format, _ []int, k int, ofA bool) []float64 {
		sign := 1.0
		if ofA {
			sign = -1
		}
		return each(k, func(int) float64 {
			if rng.IntN(40) == 0 {
				return 0
			}
			return sign * f.MinSubnormal()
		})
	},
	"huge": func(rng *rand.Rand, f tcore.Format, _ []int, k int, _ bool) []float64 {
		most := math.Sqrt(min(f.Max(), 1e20)) * math.Sqrt(f.Max()) // in products beyond f.Max
		return each(k, func(int) float64 { return min(f.Max(), most) * (rng.Float64() - 0.4) })
	},
	"large sums": func(rng *rand.Rand, _ tcore.Format, _ []int, k int, _ bool) []float64 {
		return each(k, func(int) float64 { return 160 * (rng.Float64() + 0.5) }) // of binary16: overflow in merges
	},
	"specials": func(rng *rand.Rand, f tcore.Format, _ []int, k int, _ bool) []float64 {
		values := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), f.Max(), -f.Max()}
		return each(k, func(int) float64 {
			if rng.IntN(max(2, k)) > 0 {
				return rng.NormFloat64()
			}
			return values[rng.IntN(len(values))]
		})
	},
}

func each(k int, f func(i int) float64) []float64 {
	x := make([]float64, k)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

// few returns data that are 0 but where they are great, -great and small. The
// other factor is positive.
func few(great, negative, small float64) data {
	return func(_ *rand.Rand, _ tcore.Format, where []int, k int, ofA bool) []float64 {
		x := make([]float64, k)
		for n, i := range where {
			x[i] = []float64{great, negative, small}[n%3]
			if !ofA {
				x[i] = math.Abs(x[i])
			}
		}
		return x
	}
}

// vectors draws the rows of A or the columns of B.
func (d data) vectors(rng *rand.Rand, f tcore.Format, where []int, count, k int, ofA bool) [][]float64 {
	z := make([][]float64, count)
	for i := range z {
		z[i] = d(rng, f, where, k, ofA)
		for j, x := range z[i] {
			z[i][j] = f.Round(x, tcore.ToNearestEven)
		}
	}
	return z
}
