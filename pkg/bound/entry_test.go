package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// What the sums of a run tell is what each of them tells by itself: for sums
// that stay within one exponent or leave it often, are zero, subnormal or near
// overflow, with and without products that are zero, and with and without the
// distribution of the data.
func TestEntry_tell(t *testing.T) {
	const K = 300
	known := Problem{M: 1, N: 1, K: K, X: Uniform(-1, 1), Y: Uniform(-1, 1)}
	known.Device = devices.PaperCoreF32()
	positive := known
	positive.X, positive.Y = Uniform(0, 1), Uniform(0, 1)
	unknown := Problem{M: 1, N: 1, K: K, Machine: known.Machine}
	rng := rand.New(rand.NewPCG(71, 72))
	for i, k := range []Problem{known, positive, unknown} {
		drawn := 0
		for run := range 40 {
			o := Entry{X: make([]float64, K), Y: make([]float64, K), Sums: make([]float64, K-run%2), Flushed: float64(run) * 0x1p-140}
			for l := range K {
				o.X[l] = tcore.Binary16.Round(rng.NormFloat64(), tcore.ToNearestEven)
				o.Y[l] = tcore.Binary16.Round(rng.NormFloat64(), tcore.ToNearestEven)
				if rng.IntN(10) == 0 {
					o.X[l] = 0
				}
			}
			s := 0.0
			for l := range o.Sums {
				switch p := o.X[l] * o.Y[l]; {
				case run < 20:
					s = float64(float32(s + p))
				case run < 30:
					s = float64(float32(math.Ldexp(rng.NormFloat64(), rng.IntN(8)-4)))
				default:
					s = float64(float32(math.Ldexp(rng.NormFloat64(), 45*rng.IntN(6)-150)))
				}
				if rng.IntN(20) == 0 {
					s = 0
				}
				o.Sums[l] = s
			}
			got, want := o.tell(k, k.stepDistribution()), o.slowTell(k, k.stepDistribution(), &drawn)
			if got != want {
				t.Fatalf("problem %d, run %d:\n%+v, want\n%+v", i, run, got, want)
			}
		}
		if k.stepDistribution() != nil && drawn < 40*K/4 {
			t.Errorf("problem %d: the distribution of the data was used for %d sums", i, drawn)
		}
	}
}

// slowTell is tell, sum by sum, for a machine that is no tree. It adds to drawn
// the number of sums for which the distribution of a step was used.
func (o Entry) slowTell(k Problem, dist *stepDistribution, drawn *int) runErrors {
	z := runErrors{dist: dist}
	u, least := k.coarsest(), k.leastHalfUlp()
	unsure := map[int]float64{}
	first, before := o.firstRounded(k), 0.0
	if first > 0 {
		before = o.X[0] * o.Y[0]
	}
	for i, s := range o.Sums {
		size := max(math.Abs(s), least/u)
		z.sizes += size * size
		if o.X[first+i] == 0 || o.Y[first+i] == 0 {
			continue
		}
		h := max(least, halfUlp(s, precision(u)))
		z.halfUlps += h
		z.squares += h * h
		proxy := h * h / 3
		if dist != nil && math.Mod(before, 2*h) == 0 {
			*drawn++
			e, given := math.Ilogb(2*h), 1/dist.nonzero
			var r truncation.NearestError = *dist.at(e)
			z.centre += r.Mean * given
			unsure[e] += r.Estimate * given
			if r.Square*given > 1.02*proxy {
				proxy = h * h
			}
		}
		z.proxies += proxy
		before = s
	}
	for e := -1100; e < 1100; e++ {
		z.slack += unsure[e] * unsure[e]
	}
	z.slack = sure*math.Sqrt(z.slack) + o.Flushed
	return z
}
