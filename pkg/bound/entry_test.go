package bound

import (
	"iter"
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

// Of a run the largest constant counts, wherever its output is: for bounds that
// read sums, the trace, or two stages, and a run whose outputs are in the same
// memory, one after the other.
func TestFromRun(t *testing.T) {
	const K = 40
	for _, d := range []tcore.Device{devices.PaperCoreF32(), devices.HopperE4M3(), devices.CDNA3F16()} {
		for _, M := range []int{1, 77} {
			dist := Normal(0, 1)
			k := Problem{M: M, N: 1, K: K, X: dist, Y: dist, Machine: tcore.Machine{Device: d}}
			rng := rand.New(rand.NewPCG(73, 74))
			run, err := Emulate(k, draw(rng, M, K, dist), draw(rng, K, 1, dist))
			if err != nil {
				t.Fatal(err)
			}
			k.Run = inOnePlace(run)
			bounds := Catalogue()
			want, first, read := make([]float64, len(bounds)), make([]float64, len(bounds)), 0
			for o := range run {
				for i, b := range bounds {
					if b.Interval != nil {
						c := o.relative(b.Interval(k, o, at99).Bound())
						want[i] = max(want[i], c)
						if first[i] == 0 {
							first[i] = c
						}
					}
				}
			}
			for i, got := range fromRun(bounds, k, at99) {
				if got != want[i] && !(got != got && want[i] != want[i]) {
					t.Errorf("%s, %d outputs, %s: %v, want %v", d.Name, M, bounds[i].Name, got, want[i])
				}
				if want[i] > 0 && (M == 1 || want[i] > first[i]) {
					read++
				}
			}
			if read < 5 {
				t.Errorf("%s, %d outputs: %d bounds read more than the first output", d.Name, M, read)
			}
		}
	}
}

// inOnePlace returns a run whose slices are in the same memory for all outputs,
// and worth nothing after the next one.
func inOnePlace(run iter.Seq[Entry]) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var place Entry
		for o := range run {
			place.copyFrom(o)
			place.known = o.known
			if !yield(place) {
				return
			}
			clear(place.Sums)
			clear(place.Exponents)
			clear(place.X)
			clear(place.Y)
			clear(place.Blocks)
			clear(place.Stages)
		}
	}
}
