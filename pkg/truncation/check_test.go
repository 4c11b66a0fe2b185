package truncation

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

func TestPanics(t *testing.T) {
	one := []float64{1}
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"K = 0, want K >= 1", func() { RunningSum{Terms: 1}.Error(0) }},
		{"Terms = 0, want Terms >= 1", func() { RunningSum{}.Error(1) }},
		{"K = 0, want K >= 1", func() { ErrorMoments{}.Prediction(ProductMoments{}, 0) }},
		{"Terms = 0, want Terms >= 1", func() { Accumulator{Terms: 0, FractionBits: 1, Unit: 0.5}.Delta() }},
		{"Unit = 0, want 0 < Unit < 1", func() { Accumulator{Terms: 1, FractionBits: 1, Unit: 0, Nearest: true}.Kappa() }},
		{"K = 0, want K >= 1", func() {
			Accumulator{Terms: 1, FractionBits: 1, Unit: 0.5, Nearest: true}.MeanError(ProductMoments{Mean: 1}, 0)
		}},
		{"|mean| = 0, want 0 < |mean| < +Inf", func() {
			Accumulator{Terms: 1, FractionBits: 1, Unit: 0.5, Nearest: true}.MeanError(ProductMoments{}, 1)
		}},
		{"variance = 0, want 0 < variance < +Inf", func() {
			Accumulator{Terms: 1, FractionBits: 1, Unit: 0.5, Nearest: true}.ErrorSlope(ProductMoments{}, 1)
		}},
		{"K = -1, want K >= 1", func() {
			Accumulator{Terms: 1, FractionBits: 1, Unit: 0.5, Nearest: true}.ErrorDeviation(ProductMoments{}, -1)
		}},
		{"sum = 0, want 0 < sum < +Inf", func() { BinadeTheta(0) }},
		{"theta = 0, want 0 < theta < +Inf", func() { Accumulator{Terms: 1, FractionBits: 1, Unit: 0.5, Nearest: true}.BreakdownLength(1, 0) }},
		{"q = 0, want q >= 1", func() { Accumulator{Terms: 1, Unit: 0.1}.Zeta(0) }},
		{"Terms = 0, want Terms >= 1", func() { Accumulator{Unit: 0.1}.Step() }},
		{"Unit = 0, want 0 < Unit < 1", func() { Accumulator{Terms: 1}.Step() }},
		{"x has 1 elements, y has 2", func() { PairProducts(one, []float64{1, 2}, 0, 0) }},
		{"0 products, want at least 1", func() { PairProducts(nil, nil, 0, 0) }},
		{"x[1] y = NaN of weight 1, want a finite number of positive weight", func() { PairProducts([]float64{1, math.NaN()}, []float64{1, 1}, 0, 0) }},
		{"x[0] y = +Inf of weight 1, want a finite number of positive weight", func() { PairProducts(one, []float64{math.Inf(1)}, 0, 0) }},
		{"x[0] y = 1 of weight -1, want a finite number of positive weight", func() { ValueProducts(one, []float64{-1}, one, one, 0, 0) }},
		{"2 and 1 probabilities of 1 and 1 values", func() { ValueProducts(one, []float64{1, 2}, one, one, 0, 0) }},
		{"L = 0, want L >= 1", func() { PairProducts(one, one, 0, 0).MaxExponent(0) }},
	} {
		panics.Want(t, "truncation: "+tt.want, tt.call)
	}
}
