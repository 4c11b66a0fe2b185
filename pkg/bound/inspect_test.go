package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
)

func draw64(m, k int, f func(*rand.Rand) float64, rng *rand.Rand) blas64.General {
	z := blas64.General{Rows: m, Cols: k, Stride: k, Data: make([]float64, m*k)}
	for i := range z.Data {
		z.Data[i] = f(rng)
	}
	return z
}

var laws64 = map[string]func(*rand.Rand) float64{
	"U(-1,1)":     func(r *rand.Rand) float64 { return 2*r.Float64() - 1 },
	"U(0,1)":      func(r *rand.Rand) float64 { return r.Float64() },
	"N(0,1)":      func(r *rand.Rand) float64 { return r.NormFloat64() },
	"N(1,1)":      func(r *rand.Rand) float64 { return 1 + r.NormFloat64() },
	"log-normal":  func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
	"laplace":     func(r *rand.Rand) float64 { return r.ExpFloat64() - r.ExpFloat64() },
	"t3":          func(r *rand.Rand) float64 { a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(); return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3) },
	"cauchy":      func(r *rand.Rand) float64 { return r.NormFloat64() / r.NormFloat64() },
	"sparse":      func(r *rand.Rand) float64 { if r.IntN(10) > 0 { return 0 }; return r.NormFloat64() },
	"log-uniform": func(r *rand.Rand) float64 { return math.Exp2(16*r.Float64() - 8) },
	"k/8":         func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 },
	"0.1":         func(r *rand.Rand) float64 { return 0.1 },
}

func TestTry(t *testing.T) {
	for _, s := range [][3]int{{8, 8, 100}, {64, 8, 1000}, {64, 64, 10000}, {8,64,1000}, {1,1,1000}} {
		for name, law := range laws64 {
			start := time.Now()
			bad, seeds := 0, 10
			if s[2] > 1000 { seeds = 1}
			worst := map[string]float64{}
			var in *Inspection
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(uint64(seed), 9))
				in, _ = Inspect(draw64(s[0], s[2], law, rng), draw64(s[2], s[1], law, rng))
				if in.Fails()&^ManyBits != 0 {
					bad++
				}
				for _, f := range in.Findings {
					worst[f.Name] = max(worst[f.Name], f.Statistic/f.Limit)
				}
			}
			fmt.Printf("%v %-12s refused %d of %d, power %.3g, fails %v  %v\n", s, name, bad, seeds, in.Power(), in.Fails(), time.Since(start)/time.Duration(seeds))
			for n, w := range worst { if w > 0.9 { fmt.Printf("    %s %.3g\n", n, w) } }
			if name == "N(0,1)" {
				for _, f := range in.Findings {
					fmt.Printf("      %-50s %v stat %.3g limit %.3g power %.3g level %.2g | %s\n", f.Name, f.Tests, f.Statistic, f.Limit, f.Power, f.Level, f.Words)
				}
			}
		}
	}
}
