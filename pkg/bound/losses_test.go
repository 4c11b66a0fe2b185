package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// What is estimated counts as estimated, from no more independent numbers than
// there are; only what is known in full counts as exact.
func TestSamplesOfProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(241118747, 12))
	drawn := func(d Distribution) Distribution {
		return FromMoments("drawn", d.Moments(), func(r *rand.Rand) float64 { return d.from(r).Rand() })
	}
	a, b := draw(rng, 5, 7, Uniform(-1, 1)), draw(rng, 7, 3, Uniform(-1, 1))
	for _, d := range aligning {
		k := on(d)
		narrow := d.Name == devices.HopperE4M3().Name
		for name, c := range map[string]struct {
			x, y  Distribution
			exact bool // on formats of which all numbers can be listed
		}{
			"known":           {Uniform(-1, 1), Normal(0, 1), true},
			"one drawn":       {Uniform(-1, 1), drawn(Normal(0, 1)), false},
			"both drawn":      {drawn(Uniform(0, 1)), drawn(Normal(0, 1)), false},
			"one drawn first": {drawn(Uniform(0, 1)), Normal(0, 1), false},
		} {
			if testing.Short() && !narrow && name != "one drawn" {
				continue // 2^17 numbers are listed, or drawn, alike
			}
			k.X, k.Y = c.x, c.y
			n := k.productDistribution().Samples
			if exact := math.IsInf(n, 1); exact != (c.exact && narrow) || !exact && n != 1<<17 {
				t.Errorf("%s, %s: %v samples", d.Name, name, n)
			}
		}
		if n := k.lossesOf(a, b).Products.Samples; !(0 < n && n <= 3*7) {
			t.Errorf("%s: a matrix of 21 elements counts as %v samples", d.Name, n)
		}
	}
}

// The elements of a matrix are all of its rows, without what lies between them.
func TestElementsAreThoseOfTheRows(t *testing.T) {
	m := elements{blas32.General{Rows: 2, Cols: 3, Stride: 4, Data: []float32{1, 2, 3, -1, 4, 5, 6}}, tcore.Binary16}
	if got, want := m.numbers(), []float64{1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
