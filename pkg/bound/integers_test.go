package bound_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// extremes returns the least and the greatest number of int8 or uint8.
func extremes(f tcore.Format) [2]float64 {
	return [2]float64{f.Round(math.Inf(-1), tcore.ToNearestEven), f.Round(math.Inf(1), tcore.ToNearestEven)}
}

// Of the longest sums none wraps, and one product more can wrap, or reaches
// 2^31.
func TestLongestIntegerSum(t *testing.T) {
	for _, d := range devices.Integers() {
		wraps := func(k int) bool {
			for _, x := range extremes(d.A) {
				for _, y := range extremes(d.B) {
					u, v := make([]float64, k), make([]float64, k)
					for i := range u {
						u[i], v[i] = x, y
					}
					if d.Dot(u, v, 0) != float64(k)*x*y {
						return true
					}
				}
			}
			return false
		}
		k := bound.LongestIntegerSum(d)
		if wraps(k) || !wraps(k+1) {
			t.Errorf("%s: a sum of %d products wraps: %v, of one more: %v", d.Name, k, wraps(k), wraps(k+1))
		}
	}
	panics.WantPart(t, "has the core tcore.Fused, want a WrappedSum", func() { bound.LongestIntegerSum(devices.HopperF16()) })
}

// What is said to hold, holds for products of extreme and of random integers,
// of all lengths around the limits; what does not is exceeded by one of them.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(241118747, 1))
	type setting struct {
		k, split, promote int
		most              float64 // of the elements, 0 for those of the format
		out               tcore.Format
		holds             bool
	}
	for i, s := range []setting{
		{64, 1, 0, 0, tcore.Binary32, true},
		{64, 1, 0, 0, tcore.Format{}, true},
		{64, 2, 0, 3, tcore.Binary32, true},
		{1000, 1, 0, 0, tcore.Binary32, true},
		{1000, 1, 0, 0, tcore.Binary64, true},
		{33_025, 1, 0, 0, tcore.Binary32, true},
		{200_000, 1, 0, 0, tcore.Binary32, false},
		{200_000, 1, 0, 10, tcore.Binary32, true},
		{4096, 4, 0, 0, tcore.Binary32, false},
		{4096, 4, 0, 40, tcore.Binary32, true},
		{4096, 1, 128, 0, tcore.Binary32, false},
		{4096, 1, 128, 40, tcore.Binary32, true},
		{64, 1, 0, 0, tcore.Binary16, false},
		{64, 1, 0, 10, tcore.Binary16, true},
		{64, 1, 0, 0, tcore.BFloat16, true},
		{3, 1, 0, 2, tcore.E2M3, false},
		{3, 1, 0, 2, tcore.UE4M3, false},
	} {
		for j, d := range devices.Integers() {
			if testing.Short() && s.k > 10_000 && (i+j)%3 > 0 {
				continue
			}
			m := tcore.Machine{Device: d, SplitK: s.split, Promote: s.promote, Output: s.out}
			k := bound.Problem{M: 4, N: 4, K: s.k, Machine: m}
			draw := func(f tcore.Format) float64 {
				x := extremes(f)[r.IntN(2)]
				if s.most > 0 {
					x = min(max(x, -s.most), s.most)
				}
				return x
			}
			a, b := blas64.General{Rows: 4, Cols: s.k, Stride: s.k}, blas64.General{Rows: s.k, Cols: 4, Stride: 4}
			greatest := func(f tcore.Format) float64 {
				x := extremes(f)
				if x[1] = max(x[1], -x[0]); s.most > 0 {
					return s.most
				}
				return x[1]
			}
			for i := range 4 * s.k {
				a.Data, b.Data = append(a.Data, draw(d.A)), append(b.Data, draw(d.B))
				if i < s.k { // one sum is the greatest
					a.Data[i] = -greatest(d.A)
					if d.A.Sign != tcore.TwosComplement {
						a.Data[i] = greatest(d.A)
					}
				}
				if i%4 == 0 {
					b.Data[i] = -greatest(d.B)
					if d.B.Sign != tcore.TwosComplement {
						b.Data[i] = greatest(d.B)
					}
				}
			}
			if s.most > 0 {
				k.RangeX, k.RangeY = bound.RangesOf(a, b)
			}
			results, err := bound.Evaluate(k, roundoff.FailureOf(0.99))
			if err != nil || len(results) != 1 || results[0].Holds != s.holds {
				t.Errorf("%s, %+v: %+v, %v", d.Name, s, results, err)
				continue
			}
			if !s.holds {
				continue
			}
			got := blas32.General{Rows: 4, Cols: 4, Stride: 4, Data: make([]float32, 16)}
			m.GEMM(blas.NoTrans, blas.NoTrans, 1, narrow(a), narrow(b), 0, blas32.General{}, got)
			for i := range 4 {
				for j := range 4 {
					exact, size := 0.0, 0.0
					for l := range s.k {
						p := a.Data[i*s.k+l] * b.Data[l*4+j]
						exact, size = exact+p, size+math.Abs(p)
					}
					if s.out.Precision == 0 || s.out.Precision > 24 { // D is a matrix of binary32
						exact = float64(float32(exact))
					}
					if e := math.Abs(float64(got.Data[i*4+j]) - exact); e > results[0].Limit(size) {
						t.Errorf("%s, %+v: error %v, limit %v (%s)", d.Name, s, e, results[0].Limit(size), results[0].Why)
					}
				}
			}
		}
	}
}

// narrow returns a matrix of numbers of binary32.
func narrow(m blas64.General) blas32.General {
	z := blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride}
	for _, x := range m.Data {
		z.Data = append(z.Data, float32(x))
	}
	return z
}

// What cannot be bounded is refused, each with its reason.
func TestIntegersRefused(t *testing.T) {
	problem := func(change func(k *bound.Problem)) bound.Problem {
		k := bound.Problem{M: 1, N: 1, K: 64, Machine: tcore.Machine{Device: devices.AMXINT8()}}
		change(&k)
		return k
	}
	for want, k := range map[string]bound.Problem{
		"are integers as given":                           problem(func(k *bound.Problem) { k.Represented = true }),
		"A reaches 200 and B 128, int8 ends at 128":       problem(func(k *bound.Problem) { k.RangeX.Max = 200 }),
		"A reaches 300":                                   problem(func(k *bound.Problem) { k.X = bound.Uniform(0, 300) }),
		"a sum may wrap":                                  problem(func(k *bound.Problem) { k.K = 1 << 17 }),
		"may be rounded":                                  problem(func(k *bound.Problem) { k.K, k.SplitK = 4096, 2 }),
		"range of binary16":                               problem(func(k *bound.Problem) { k.Output = tcore.Binary16 }),
		"= 64 × 128 × 128 = 1048576 < 2^31: no sum wraps": problem(func(k *bound.Problem) {}),
	} {
		results, err := bound.Evaluate(k, roundoff.FailureOf(0.99))
		if err != nil || len(results) != 1 || !strings.Contains(results[0].Why, want) || results[0].Holds != strings.HasPrefix(want, "=") {
			t.Errorf("%+v, %v, want %q", results, err, want)
		}
		if _, err := bound.Predict(k); err == nil {
			t.Errorf("%s: a prediction of what is not rounded", want)
		}
	}
}

// Advice goes up to the last length of which no sum wraps.
func TestIntegersAdvised(t *testing.T) {
	k := bound.Problem{M: 1, N: 1, K: 1000, Machine: tcore.Machine{Output: tcore.Binary32}}
	advice, err := bound.Advise(k, 1e-7, roundoff.FailureOf(0.99), devices.Integers())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range advice {
		if longest := bound.LongestIntegerSum(a.Device); !a.Tightest.Holds || a.LeastK != 1 || a.LargestK != longest {
			t.Errorf("%s: %+v, want up to %d", a.Device.Name, a, longest)
		}
	}
}

// How many products fit an accumulator of 32 bits.
func ExampleLongestIntegerSum() {
	for _, d := range devices.Integers() {
		fmt.Println(d.Instruction, bound.LongestIntegerSum(d))
	}
	// Output:
	// tdpbssd 131071
	// tdpbsud 65793
	// tdpbusd 65793
	// tdpbuud 33025
}
