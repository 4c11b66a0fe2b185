package rare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/rare"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A bound states that it fails for one output in ten at most. How often
// is that?
func ExampleFinding() {
	problem := bound.Problem{M: 1, N: 1, K: 16, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1), Machine: tcore.Machine{Device: devices.IEEEF16()}}
	stated := roundoff.FailureOf(0.9)
	found, err := rare.Fails(context.Background(), problem, bound.HalfUlpBernstein, stated, rare.Effort{Seed: 1, Samples: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it fails at a rate of", found)
	fmt.Printf("%.0e of what it states, more often than that: %v\n", found.Ratio(), found.Broken())
	fmt.Printf("doubt: %q\n", found.Doubt())
	// Output:
	// it fails at a rate of 7.78e-03 ± 0.91e-03
	// 8e-02 of what it states, more often than that: false
	// doubt: ""
}

// An estimate is worth what it is made of.
func ExampleEstimate() {
	half := rare.Splitting[float64]{K: 1, Draw: func(r *rand.Rand) float64 { return r.Float64() }, Score: func(x []float64) float64 { return x[0] }}
	for _, samples := range []int{3, 1000} {
		e, err := half.Exceeds(context.Background(), 0.5, rare.Effort{Seed: 1, Samples: samples})
		fmt.Printf("%v, %.2f to %.2f, %q %v\n", e, e.Low, e.High, e.Doubt(), err)
	}
	// Output:
	// 5.83e-01 ± 0.76e-01, 0.44 to 0.77, "it stands on 35 independent outputs" <nil>
	// 4.98e-01 ± 0.04e-01, 0.49 to 0.51, "" <nil>
}

// The error of a dot product on an H100 is beyond 2^-14 of |A||B| about once in
// a thousand times.
func ExampleExceeds() {
	problem := bound.Problem{M: 1, N: 1, K: 16, Machine: tcore.Machine{Device: devices.HopperE4M3()}, X: bound.Uniform(-1, 1), Y: bound.Uniform(-1, 1)}
	e, err := rare.Exceeds(context.Background(), problem, bound.Result{Constant: 0x1p-14, Absolute: math.Inf(1)}, rare.Effort{Seed: 1, Samples: 100})
	fmt.Println(e, err)
	// Output:
	// 1.15e-03 ± 0.16e-03 <nil>
}

// Of stochastic sums, bounds that take the data as random are left out.
func ExampleClaimed() {
	problem := bound.Problem{M: 1, N: 1, K: 16, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1),
		Machine: tcore.Machine{Device: devices.IEEEF16(), Stochastic: tcore.Stochastic{Bits: 32}}}
	claimed, err := rare.Claimed(problem, roundoff.FailureOf(0.999), 1)
	for _, b := range claimed {
		fmt.Println(b.Name)
	}
	fmt.Println(err)
	// Output:
	// connolly-higham-mary
	// el-arar
	// hallman-ipsen
	// <nil>
}

// What rounds to nearest has no random bits to tilt.
func ExampleTilting_Check() {
	fmt.Println(rare.Tilting{Machine: tcore.Machine{Device: devices.IEEEF32()}, X: []float64{1}, Y: []float64{1}}.Check())
	// Output:
	// rare: ieee-fma-binary32-binary32 rounds to nearest, want Stochastic.Bits > 0 for tilting
}

// Stochastic rounding throws a coin for each product that is half a unit in the
// last place of the sum. That all of 40 fall the same way has the probability
// 2^-39.
func ExampleTilting() {
	s := rare.Tilting{Machine: tcore.Machine{Device: devices.IEEEF32(), Stochastic: tcore.Stochastic{Bits: 32}}, X: []float64{1}, Y: []float64{1}}
	for range 40 {
		s.X, s.Y = append(s.X, 0x1p-12), append(s.Y, 0x1p-12)
	}
	e, err := s.Exceeds(context.Background(), 39*0x1p-24, rare.Effort{Seed: 1})
	fmt.Println(e, err)
	fmt.Printf("%.2e\n", 0x1p-39)
	// Output:
	// 1.86e-12 ± 0.10e-12 <nil>
	// 1.82e-12
}

// The sum of ten uniform numbers is above 9.5 with the probability 2^-10/10!.
func ExampleSplitting() {
	sum := rare.Splitting[float64]{K: 10, Draw: func(r *rand.Rand) float64 { return r.Float64() }, Score: func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v
		}
		return sum
	}}
	e, err := sum.Exceeds(context.Background(), 9.5, rare.Effort{Seed: 1})
	fmt.Println(e, err)
	fmt.Printf("%.2e\n", math.Pow(0.5, 10)/math.Gamma(11))
	// Output:
	// 3.15e-10 ± 0.46e-10 <nil>
	// 2.69e-10
}

// What a bound says nothing of is an error.
func ExampleFails() {
	problem := bound.Problem{M: 1, N: 1, K: 16, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1), Machine: tcore.Machine{Device: devices.IEEEF16()}}
	_, err := rare.Fails(context.Background(), problem, bound.MartingaleTrace, roundoff.FailureOf(0.999), rare.Effort{Seed: 1})
	fmt.Println(err)
	// Output:
	// rare: martingale-trace says nothing of this product: ieee-fma-binary16-binary32 does not truncate
}
