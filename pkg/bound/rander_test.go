package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/stat/distuv"
)

// randers are distributions of distuv: with and without a largest value, of one
// sign and of both, with heavy tails, and of integers.
var randers = map[string]func(src rand.Source) distuv.Rander{
	"uniform":     func(src rand.Source) distuv.Rander { return distuv.Uniform{Min: -1, Max: 3, Src: src} },
	"normal":      func(src rand.Source) distuv.Rander { return distuv.Normal{Mu: 0.5, Sigma: 2, Src: src} },
	"Laplace":     func(src rand.Source) distuv.Rander { return distuv.Laplace{Scale: 0.3, Src: src} },
	"exponential": func(src rand.Source) distuv.Rander { return distuv.Exponential{Rate: 2, Src: src} },
	"Gumbel":      func(src rand.Source) distuv.Rander { return distuv.GumbelRight{Mu: -0.5, Beta: 1, Src: src} },
	"log-normal":  func(src rand.Source) distuv.Rander { return distuv.LogNormal{Mu: 0, Sigma: 1, Src: src} },
	"t":           func(src rand.Source) distuv.Rander { return distuv.StudentsT{Sigma: 1, Nu: 5, Src: src} },
	"beta":        func(src rand.Source) distuv.Rander { return distuv.Beta{Alpha: 2, Beta: 3, Src: src} },
	"triangle":    func(src rand.Source) distuv.Rander { return distuv.NewTriangle(-1, 1, 0, src) },
	"Poisson":     func(src rand.Source) distuv.Rander { return distuv.Poisson{Lambda: 3, Src: src} },
}

func TestFromRander(t *testing.T) {
	const n = 1 << 18
	for name, of := range randers {
		d := FromRander(name, of)
		d.Src = rand.NewPCG(241118747, 50)
		sum := map[string]float64{}
		greatest := 0.0
		for range n {
			x := d.Rand()
			sum["mean"] += x / n
			sum["square"] += x * x / n
			sum["size"] += math.Abs(x) / n
			greatest = max(greatest, math.Abs(x))
		}
		deviation := d.StdDev() / math.Sqrt(n)
		if math.Abs(sum["mean"]-d.Mean()) > 5*deviation || math.Abs(sum["size"]-d.MeanAbs()) > 5*deviation ||
			math.Abs(sum["square"]/d.MeanSquare()-1) > 0.1 || greatest > d.MaxAbs() || d.Check() != nil {
			t.Errorf("%s: drew %v up to %v, told %+v, %v", name, sum, greatest, d.Moments(), d.Check())
		}
		// With probability at most 10⁻⁶, one of the n numbers is beyond Largest.
		if most := d.Largest(n, roundoff.FailureOf(1-1e-6)); greatest > most {
			t.Errorf("%s: drew %v, the largest should be %v", name, greatest, most)
		}
	}
	t.Run("knows_sizes_in_closed_form", func(t *testing.T) {
		for name, want := range map[string]float64{"Laplace": 0.3, "exponential": 0.5, "triangle": 1. / 3, "Poisson": 3,
			"uniform": 1.25, "t": 2 * math.Sqrt(5/math.Pi) / 4 * math.Gamma(3) / math.Gamma(2.5)} {
			if got := FromRander(name, randers[name]).MeanAbs(); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%s: E|x| = %v, want %v", name, got, want)
			}
		}
	})
	t.Run("knows_which_are_symmetric", func(t *testing.T) {
		for name, of := range randers {
			want := name == "Laplace" || name == "t" || name == "triangle"
			if got := FromRander(name, of).Symmetric(); got != want {
				t.Errorf("%s: symmetric is %v", name, got)
			}
		}
	})
	t.Run("knows_tails", func(t *testing.T) {
		// P(|x| > -0.3 log p) = p.
		if got, want := FromRander("", randers["Laplace"]).Largest(1, -50), 0.3*50.; math.Abs(got/want-1) > 1e-6 || got < want {
			t.Errorf("%v, want %v", got, want)
		}
		if got := FromRander("", randers["Laplace"]).Largest(1, roundoff.Never); !math.IsInf(got, 1) {
			t.Errorf("%v, want no limit", got)
		}
		if got := FromRander("", randers["uniform"]).Largest(1, roundoff.Never); got != 3 {
			t.Errorf("%v, want 3", got)
		}
	})
	t.Run("knows_nothing_of_what_tells_nothing", func(t *testing.T) {
		d := FromRander("Cauchy", func(src rand.Source) distuv.Rander { return distuv.StudentsT{Sigma: 1, Nu: 1, Src: src} })
		if d.told() || !d.CanDraw() {
			t.Errorf("%+v", d.Moments())
		}
	})
}

// The coarse distribution of clipped numbers has their mean, and the mean of a
// convex function under it is not smaller.
func TestClipped(t *testing.T) {
	const n = 1 << 18
	for name, of := range randers {
		o := FromRander(name, of)
		if o.MaxAbs() < math.Inf(1) {
			continue
		}
		for _, deviations := range []float64{2, 12, 100} {
			d := o.clipped(deviations * o.StdDev())
			d.Src = rand.NewPCG(241118747, 51)
			dist, l := d.of(), d.of().coarse()
			functions := []func(x float64) float64{
				func(x float64) float64 { return x * x },
				func(x float64) float64 { return math.Abs(x - o.StdDev()) },
				func(x float64) float64 { return math.Exp(x / (2 * deviations * o.StdDev())) },
				func(x float64) float64 { return x },
			}
			means, squares := make([]float64, len(functions)), make([]float64, len(functions))
			for range n {
				x := d.Rand()
				if x < dist.lo || x > dist.hi {
					t.Fatalf("%s: drew %v, want it in [%v, %v]", name, x, dist.lo, dist.hi)
				}
				for i, f := range functions {
					y := f(x)
					means[i], squares[i] = means[i]+y/n, squares[i]+y*y/n
				}
			}
			for i, f := range functions {
				noise := 5 * math.Sqrt(max(0, squares[i]-means[i]*means[i])/n)
				got := l.mean(f)
				if got < means[i]-noise || got > 1.1*math.Abs(means[i])+noise {
					t.Errorf("%s within %v deviations, function %d: %v, drawn %v ± %v", name, deviations, i, got, means[i], noise)
				}
			}
			if noise := 5 * math.Sqrt(max(0, squares[0]-means[0]*means[0])/n); means[0] > d.MeanSquare()+noise {
				t.Errorf("%s within %v deviations: mean square %v, drawn %v ± %v", name, deviations, d.MeanSquare(), means[0], noise)
			}
			if mean := l.mean(func(x float64) float64 { return x }); math.Abs(d.Mean()-mean) > 1e-9*d.StdDev() || d.Variance() > o.Variance()*(1+1e-9) {
				t.Errorf("%s within %v deviations: mean %v, variance %v, of the distribution %v, without a limit %v", name, deviations, d.Mean(), d.Variance(), mean, o.Variance())
			}
		}
	}
}

// Errors of data without a largest value are within their bounds on machines
// that truncate.
func TestUnboundedData(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for name, of := range randers {
		d := FromRander(name, of)
		if d.MaxAbs() < math.Inf(1) {
			continue
		}
		for _, device := range []string{"hopper", "volta"} {
			unit := devices.HopperF16()
			if device == "volta" {
				unit = devices.VoltaF16()
			}
			k := on(unit)
			k.M, k.N, k.K, k.X, k.Y = 16, 16, 2048, d, d
			value := TruncatedRandomData.Constant(k, at99)
			if why := notTruncatedRandomData(k); why != "" || !(value.Absolute > 0) || math.IsInf(value.Absolute, 1) {
				t.Errorf("%s on %s: %+v, %s", name, device, value, why)
				continue
			}
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(seed, 52))
				run, err := Emulate(k, draw(rng, k.M, k.K, d), draw(rng, k.K, k.N, d))
				if err != nil {
					t.Fatal(err)
				}
				for o := range run {
					if e := Exact.Interval(k, o, at99).Centre; math.Abs(e) > value.Absolute {
						t.Errorf("%s on %s, seed %d: error %v exceeds %v", name, device, seed, e, value.Absolute)
					}
				}
			}
		}
	}
}
