package truncation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// truncatedSum adds products as an accumulator of 14 bits does, one block after
// the other, by the definition.
func truncatedSum(products []float64, exps []int, terms, fraction int) float64 {
	s := 0.0
	for len(products) > 0 {
		n := min(terms, len(products))
		E := math.MinInt
		if s != 0 {
			E = math.Ilogb(s)
		}
		for i := range n {
			if products[i] != 0 {
				E = max(E, exps[i])
			}
		}
		cut := func(x float64) float64 { return math.Ldexp(math.Trunc(math.Ldexp(x, fraction-E)), E-fraction) }
		s = cut(s)
		for _, p := range products[:n] {
			s += cut(p)
		}
		s = math.Ldexp(math.Trunc(math.Ldexp(s, fraction-math.Ilogb(s))), math.Ilogb(s)-fraction) // 14 bits
		products, exps = products[n:], exps[n:]
	}
	return s
}

// Sums of one sign lose at least LeastLoss, and in the mean not three times as
// much where sums are long; nothing is certain of sums of two signs, nor to
// nearest.
func TestLeastLoss(t *testing.T) {
	const terms, fraction, K, sums = 16, 13, 1000, 400
	rng := rand.New(rand.NewPCG(3, 0))
	for _, sign := range []float64{1, -1} {
		var x, px []float64
		for i := range 16 { // numbers of 4 bits
			x, px = append(x, sign*float64(16+i)/32), append(px, 1)
		}
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = math.Abs(v)
		}
		p := ValueProducts(x, px, y, px, -6, -6)
		sum := Sum{
			Accumulator: Accumulator{Terms: terms, FractionBits: fraction, Unit: 0x1p-14},
			Losses:      p.Losses(fraction),
			LogMoment:   p.LogMoment,
			Largest:     1,
		}
		for _, n := range []int{K, K / 3, 10} {
			least := sum.LeastLoss(n, sums, roundoff.FailureOf(0.99))
			mean := 0.0
			for range sums {
				products, exps, exact := make([]float64, n), make([]int, n), 0.0
				for i := range products {
					a, b := x[rng.IntN(len(x))], y[rng.IntN(len(y))]
					products[i], exps[i] = a*b, math.Ilogb(a)+math.Ilogb(b)
					exact += products[i]
				}
				loss := math.Abs(exact) - math.Abs(truncatedSum(products, exps, terms, fraction))
				if mean += loss / sums; loss < least {
					t.Errorf("sign %v: a sum of %d loses %v, want at least %v", sign, n, loss, least)
				}
			}
			if n >= K/3 && mean > 3*least || n == 10 && least > mean {
				t.Errorf("sign %v: sums of %d lose %v in the mean, and for sure %v", sign, n, mean, least)
			}
		}
		nearest := sum
		nearest.Nearest = true
		symmetric := sum
		symmetric.Losses = p.Symmetric().Losses(fraction)
		mixed := ValueProducts([]float64{-31. / 32, 31. / 32}, []float64{1, 9}, x, px, -6, -6)
		other := sum
		other.Losses, other.LogMoment = mixed.Losses(fraction), mixed.LogMoment
		for name, s := range map[string]Sum{"nearest": nearest, "symmetric": symmetric, "two signs": other} {
			if least := s.LeastLoss(K, sums, roundoff.FailureOf(0.99)); least != 0 {
				t.Errorf("%s: a least loss of %v, want 0", name, least)
			}
		}
	}
}
