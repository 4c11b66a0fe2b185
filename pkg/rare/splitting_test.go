package rare

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/stat/distuv"
)

// normals is the sum of K normal numbers over √K, which is normal.
func normals(K int) Splitting[float64] {
	return Splitting[float64]{K: K, Draw: func(r *rand.Rand) float64 { return r.NormFloat64() }, Score: func(x []float64) float64 {
		return sumOf(x) / math.Sqrt(float64(len(x)))
	}}
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// irwinHall returns the probability that a sum of n uniform numbers of [0, 1]
// is above n - x, for 0 <= x <= 1: the volume of a simplex.
func irwinHall(n int, x float64) float64 { return math.Pow(x, float64(n)) / math.Gamma(float64(n)+1) }

// near fails unless the truth is within so many standard errors of the
// estimate, and these are at most a third of it.
func near(t *testing.T, name string, e Estimate, truth float64) {
	t.Helper()
	if !(math.Abs(e.Rate-truth) <= 4*e.StdErr+1e-9*truth) || !(e.StdErr < e.Rate/3) || e.Level != 1 {
		t.Errorf("%s: %v, level %v, want %.3g within four standard errors", name, e, e.Level, truth)
	}
}

// Tails of normal numbers, and of uniform ones near the end of their support,
// are known in closed form.
func TestSplittingFindsTailsThatAreKnown(t *testing.T) {
	uniform := Splitting[float64]{K: 8, Draw: func(r *rand.Rand) float64 { return r.Float64() }, Score: sumOf}
	for _, p := range []float64{0.3, 1e-3, 1e-6, 1e-9, 1e-12} {
		q := distuv.UnitNormal.Quantile(1 - p)
		e, err := normals(32).Exceeds(t.Context(), q, Effort{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "normal", e, distuv.UnitNormal.Survival(q))
		x := math.Pow(p*math.Gamma(9), 1.0/8)
		if x > 1 {
			continue
		}
		e, err = uniform.Exceeds(t.Context(), 8-x, Effort{Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "uniform", e, irwinHall(8, x))
	}
}

// The interval contains the rate as often as it says: of 300 seeds about 95 %,
// tried by the binomial distribution.
func TestTheIntervalCovers(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 25
	}
	for _, p := range []float64{1e-3, 1e-6, 1e-9} {
		q := distuv.UnitNormal.Quantile(1 - p)
		truth, covered, sum := distuv.UnitNormal.Survival(q), 0, 0.0
		for seed := range seeds {
			e, err := normals(16).Exceeds(t.Context(), q, Effort{Seed: uint64(seed), Samples: 120, Moves: 8})
			if err != nil {
				t.Fatal(err)
			}
			if e.Low <= truth && truth <= e.High {
				covered++
			}
			sum += e.Rate / truth
		}
		n := float64(seeds)
		share, mean := float64(covered)/n, sum/n
		t.Logf("%.0e: covered %.3f, mean %.3f of the rate", p, share, mean)
		if math.Abs(share-Confidence) > 3.5*math.Sqrt(Confidence*(1-Confidence)/n) {
			t.Errorf("%.0e: %d of %d intervals contain the rate, want 95 %%", p, covered, seeds)
		}
		if math.Abs(mean-1) > 0.1 {
			t.Errorf("%.0e: the mean of the estimates is %v of the rate, want 1", p, mean)
		}
	}
}

// few is a device whose sums have so few values that the law of its errors is
// computed exactly.
func few() tcore.Device {
	return tcore.Device{Name: "few", Architecture: "thought", Instruction: "none", A: tcore.E2M1, B: tcore.E2M1,
		C: tcore.Format{Name: "few", Precision: 6, Emin: -6, Emax: 12}, Core: tcore.Chain{}}
}

var fewX, fewY = []float64{-1.5, -1, 1, 1.5, 2}, []float64{1, 1.5, 3}

// oneOf is the law of numbers of a list, each as likely.
func oneOf(list []float64) bound.Distribution {
	var m bound.DataMoments
	for _, x := range list {
		n := float64(len(list))
		m.Mean, m.MeanSquare, m.MeanAbs, m.MaxAbs = m.Mean+x/n, m.MeanSquare+x*x/n, m.MeanAbs+math.Abs(x)/n, max(m.MaxAbs, math.Abs(x))
	}
	return bound.FromMoments("", m, func(r *rand.Rand) float64 { return list[r.IntN(len(list))] })
}

// roundFew rounds to nearest even, six bits.
func roundFew(x float64) float64 {
	if x == 0 {
		return 0
	}
	quantum := math.Ldexp(1, max(int(math.Floor(math.Log2(math.Abs(x)))), -6)-5)
	return math.RoundToEven(x/quantum) * quantum
}

// On a device that rounds to nearest, the law of sum and error together is
// propagated from product to product, which gives all tails exactly.
func TestSplittingFindsTheErrorsOfADevice(t *testing.T) {
	const K = 14
	law := map[[2]float64]float64{{0, 0}: 1}
	for range K {
		next := map[[2]float64]float64{}
		for state, p := range law {
			for _, x := range fewX {
				for _, y := range fewY {
					s := roundFew(state[0] + x*y)
					next[[2]float64{s, state[1] + s - (state[0] + x*y)}] += p / float64(len(fewX)*len(fewY))
				}
			}
		}
		law = next
	}
	tail := func(limit float64) (p float64) {
		for state, q := range law {
			if math.Abs(state[1]) > limit {
				p += q
			}
		}
		return p
	}
	k := bound.Problem{M: 1, N: 1, K: K, Machine: tcore.Machine{Device: few()}, X: oneOf(fewX), Y: oneOf(fewY)}
	limits := []float64{1, 2} // down to 1e-5
	if !testing.Short() {
		limits = []float64{1, 2, 3, 4} // and to 6e-12
	}
	for _, limit := range limits {
		e, err := Exceeds(t.Context(), k, bound.Result{Constant: math.Inf(1), Absolute: limit}, Effort{Seed: 3, Samples: 100 * int(limit*limit)})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(limit, tail(limit), e, e.Effective)
		near(t, "few", e, tail(limit))
	}
	if p := tail(4); !(1e-12 < p && p < 1e-11) {
		t.Errorf("the rate beyond 4 is %v", p)
	}
}

// Where no score exceeds the threshold, the level says how far it went, and the
// rate is that of this level.
func TestSplittingSaysHowFarItCame(t *testing.T) {
	s := Splitting[float64]{K: 2, Draw: func(r *rand.Rand) float64 { return float64(r.IntN(10)) }, Score: sumOf}
	e, err := s.Exceeds(t.Context(), 18, Effort{Seed: 1, Samples: 1000})
	if err != nil || !(0.99 < e.Level && e.Level < 1) || math.Abs(e.Rate-0.01) > 4*e.StdErr {
		t.Errorf("%+v, %v, want a level just below 1 at the rate 0.01", e, err)
	}
	e, err = s.Exceeds(t.Context(), 17, Effort{Seed: 1, Samples: 1000}) // 17 itself, which is twice as likely, does not exceed it
	if err != nil || e.Level != 1 || math.Abs(e.Rate-0.01) > 4*e.StdErr {
		t.Errorf("%+v, %v, want the rate 0.01", e, err)
	}
	e, err = s.Exceeds(t.Context(), 36, Effort{Seed: 1, Samples: 1000})
	if err != nil || e.Level != 0.5 || math.Abs(e.Rate-0.01) > 4*e.StdErr {
		t.Errorf("%+v, %v, want level 18/36 at the rate 0.01", e, err)
	}
	e, err = normals(4).Exceeds(t.Context(), 100, Effort{Seed: 1, Floor: 1e-6})
	if err != nil || !(e.Level < 0.06) || !(1e-8 < e.Rate && e.Rate < 1e-5) {
		t.Errorf("%+v, %v, want about the floor, 1e-6", e, err)
	}
	same := Splitting[float64]{K: 2, Draw: func(r *rand.Rand) float64 { return 1 }, Score: sumOf}
	if e, err := same.Exceeds(t.Context(), 3, Effort{}); err != nil || e.Rate != 0 || e.High != 1 || e.Doubt() == "" {
		t.Errorf("%+v, %v, want no rate, and a doubt", e, err)
	}
	if e, err := same.Exceeds(t.Context(), 1, Effort{}); err != nil || e.Rate != 1 || e.StdErr != 0 {
		t.Errorf("%+v, %v, want 1", e, err)
	}
}

// Rates whose squares are below the numbers of binary64 have error bars, too.
func TestEstimatesOfTheLeastRates(t *testing.T) {
	a, b := estimate([]float64{1e-3, 2e-3, 3e-3, 4e-3}), estimate([]float64{1e-303, 2e-303, 3e-303, 4e-303})
	for _, x := range [][2]float64{{a.Rate, b.Rate}, {a.StdErr, b.StdErr}, {a.Low, b.Low}, {a.High, b.High}} {
		if math.Abs(x[1]*1e300-x[0]) > 1e-9*x[0] {
			t.Errorf("%v, want 1e-300 of %v", x[1], x[0])
		}
	}
	if want := 2.5e-3; math.Abs(a.Rate-want) > 1e-15 || math.Abs(a.StdErr-math.Sqrt(5.0/3/4)*1e-3) > 1e-15 || math.Abs(a.Largest-0.4) > 1e-12 || a.Largest != b.Largest {
		t.Errorf("%+v, want the mean %v", a, want)
	}
}

// A seed gives the same estimate on any number of cores, and another seed
// another one.
func TestTheSeedDecides(t *testing.T) {
	of := func(seed uint64) Estimate {
		e, err := normals(8).Exceeds(t.Context(), 4, Effort{Seed: seed, Samples: 50})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	before := of(7)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := of(7); !reflect.DeepEqual(again, before) {
		t.Errorf("on one core %+v, before %+v", again, before)
	}
	if other := of(8); other.Rate == before.Rate {
		t.Errorf("seeds 7 and 8 give %v", other)
	}
}

func TestSplittingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	_, err := normals(8).Exceeds(ctx, 4, Effort{Progress: func(n, total int) {
		if done++; n != done || total != 21 {
			t.Errorf("progress %d of %d", n, total)
		}
		cancel()
	}})
	if err != context.Canceled || done == 0 || done > 4 {
		t.Errorf("%v after %d steps", err, done)
	}
}

func contains(s, part string) bool { return strings.Contains(s, part) }
