package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
)

func eachLine(m blas64.General, columns bool, f func(i int, x []float64)) {
	l := newLines("", "", m, columns)
	for i := range l.n {
		x := l.line(i)
		f(i, x)
		for k, v := range x {
			if columns {
				m.Data[k*m.Stride+i] = v
			} else {
				m.Data[i*m.Stride+k] = v
			}
		}
	}
}

func ar(ρ float64, rng *rand.Rand) func(int, []float64) {
	return func(_ int, x []float64) {
		z := rng.NormFloat64()
		for k := range x {
			x[k] = z
			z = ρ*z + math.Sqrt(1-ρ*ρ)*rng.NormFloat64()
		}
	}
}

func TestTryPower(t *testing.T) {
	for _, s := range [][3]int{{8, 8, 100}, {16, 16, 1000}, {64, 8, 10000}, {1, 1, 1000}} {
		m, n, K := s[0], s[1], s[2]
		for _, c := range []struct {
			name string
			make func(a, b blas64.General, rng *rand.Rand)
		}{
			{"sorted", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { slices.Sort(x) }) }},
			{"both sorted", func(a, b blas64.General, rng *rand.Rand) {
				eachLine(a, false, func(_ int, x []float64) { slices.Sort(x) })
				eachLine(b, true, func(_ int, x []float64) { slices.Sort(x); slices.Reverse(x) })
			}},
			{"sorted, permuted", func(a, b blas64.General, rng *rand.Rand) {
				p := rng.Perm(len(b.Data) / b.Cols)
				eachLine(a, false, func(_ int, x []float64) { slices.Sort(x); y := slices.Clone(x); for k := range x { x[k] = y[p[k]] } })
			}},
			{"AR .99", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, ar(.99, rng)) }},
			{"AR .9 B", func(a, b blas64.General, rng *rand.Rand) { eachLine(b, true, ar(.9, rng)) }},
			{"AR .5 both", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, ar(.5, rng)); eachLine(b, true, ar(.5, rng)) }},
			{"AR .2", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, ar(.2, rng)) }},
			{"trend", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { for k := range x { x[k] += float64(k) / float64(len(x)) } }) }},
			{"sine", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(i int, x []float64) { for k := range x { x[k] += math.Sin(float64(k)*.7 + float64(i)) } }) }},
			{"scaled", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { c := math.Ldexp(1, rng.IntN(7)-3); for k := range x { x[k] *= c } }) }},
			{"outlier row", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(i int, x []float64) { if i == 0 { for k := range x { x[k] *= 100 } } }) }},
			{"outliers in a row", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(i int, x []float64) { if i == 0 { for k := range x { if rng.IntN(5) == 0 { x[k] *= 100 } } } }) }},
			{"transpose", func(a, b blas64.General, rng *rand.Rand) { for i := range a.Rows { for k := range a.Cols { if i < b.Cols { b.Data[k*b.Stride+i] = a.Data[i*a.Stride+k] } } } }},
			{"same sizes", func(a, b blas64.General, rng *rand.Rand) { for i := range a.Rows { for k := range a.Cols { if i < b.Cols { b.Data[k*b.Stride+i] = math.Abs(a.Data[i*a.Stride+k]) } } } }},
			{"cancelling", func(a, b blas64.General, rng *rand.Rand) {
				eachLine(a, false, func(_ int, x []float64) { copy(x[len(x)/2:], x) })
				eachLine(b, true, func(_ int, x []float64) { h := len(x) / 2; for k := range h { x[h+k] = -x[k] } })
			}},
			{"low bits", func(a, b blas64.General, rng *rand.Rand) {
				for k := range a.Cols {
					x := 2*rng.IntN(512) + 1
					z := x
					for range 4 { z = z * (2 - x*z) & 1023 }
					y := 1024 - z
					for i := range a.Rows { a.Data[i*a.Stride+k] = math.Ldexp(float64(1024+x), -10-rng.IntN(3)) }
					for j := range b.Cols { b.Data[k*b.Stride+j] = math.Ldexp(float64(1024+y), -10-rng.IntN(3)) }
				}
			}},
			{"softmax", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { s := 0.; for k := range x { x[k] = math.Exp(2*x[k]); s += x[k] }; for k := range x { x[k] /= s } }) }},
			{"decimal", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { for k := range x { x[k] = float64(rng.IntN(20)) / 10 } }); eachLine(b, true, func(_ int, x []float64) { for k := range x { x[k] = float64(rng.IntN(20)) / 10 } }) }},
			{"bias column", func(a, b blas64.General, rng *rand.Rand) { eachLine(a, false, func(_ int, x []float64) { for k := range x { x[k] = float64(rng.IntN(20)) / 10 } }); eachLine(b, true, func(j int, x []float64) { if j == 0 { for k := range x { x[k] = 1 } } }) }},
		} {
			rng := rand.New(rand.NewPCG(1, 9))
			a, b := draw64(m, K, laws64["N(0,1)"], rng), draw64(K, n, laws64["N(0,1)"], rng)
			c.make(a, b, rng)
			start := time.Now()
			in, err := Inspect(a, b)
			if err != nil { t.Fatal(err) }
			fmt.Printf("%v %-18s fails %-30v %v\n", s, c.name, in.Fails(), time.Since(start))
			for _, f := range in.Findings { if f.Fails() { fmt.Printf("        %.2g  %s\n", f.Statistic/f.Limit, f.Words) } }
		}
	}
}
