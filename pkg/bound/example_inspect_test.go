package bound_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

func matrix64(rng *rand.Rand, rows, cols int) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	for i := range m.Data {
		m.Data[i] = rng.Float64()
	}
	return m
}

// A bound for independent elements is not used for sorted ones.
func ExampleInspect() {
	rng := rand.New(rand.NewPCG(241118747, 0))
	a, b := matrix64(rng, 8, 2000), matrix64(rng, 2000, 8)
	k := bound.Problem{M: 8, N: 8, K: 2000, Machine: tcore.Machine{Device: devices.HopperF16()}, Represented: true}
	for _, name := range []string{"as drawn", "sorted"} {
		if name == "sorted" {
			for i := range a.Rows {
				slices.Sort(a.Data[i*a.Stride : i*a.Stride+a.Cols])
			}
		}
		k.X, k.Y = must(bound.MomentsOf("A", a)), must(bound.MomentsOf("B", b))
		k.RangeX, k.RangeY = bound.RangesOf(a, b)
		k.Data = must(bound.Inspect(a, b))
		r, _ := bound.Tightest(must(bound.Evaluate(k, at99)))
		fmt.Printf("%s: %v refused, %s\n", name, k.Data.Fails(), r.Bound)
	}
	// Output:
	// as drawn: nothing refused, truncated-random-data
	// sorted: order refused, truncation
}

// The largest departure that was found, and the departures that the tests would
// detect.
func ExampleInspection() {
	rng := rand.New(rand.NewPCG(241118747, 0))
	a, b := matrix64(rng, 8, 2000), matrix64(rng, 2000, 8)
	copy(a.Data[1000:2000], a.Data) // the first row repeats its first half
	in := must(bound.Inspect(a, b))
	fmt.Print(in)
	fmt.Println(in.Fails(), "at level", in.Level)
	fmt.Println(in.Offer())
	// Output:
	// order: refused: lag-1000 correlation of A along K is 0.12, at most 0.08 in random order
	// one distribution: nothing against it, where the tests see a relative difference in scale of 0.16
	// pairing: nothing against it, where the tests see a correlation of A with B in one output of 0.23
	// bits: nothing against it
	// order at level 0.001
	// permute K: multiply AP and PᵀB with one random permutation P of K, drawn without a look at the data
}

// A finding refuses an assumption if its statistic exceeds its limit.
func ExampleFinding() {
	f := bound.Finding{Name: "lag correlations of A", Tests: bound.AnyOrder, Statistic: 0.9, Limit: 0.03, Level: 1e-4}
	fmt.Println(f.Tests, f.Fails())
	// Output:
	// order true
}
