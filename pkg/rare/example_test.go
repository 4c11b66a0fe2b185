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

// A bound states that it fails for one output in 10⁹ at most. How often is that
// with stochastic rounding?
func Example() {
	problem := bound.Problem{M: 1, N: 1, K: 64, X: bound.Uniform(0, 1), Y: bound.Uniform(0, 1),
		Machine: tcore.Machine{Device: devices.IEEEF16(), Stochastic: tcore.Stochastic{Bits: 32}}}
	stated := roundoff.Failure(math.Log(1e-9))
	found, err := rare.Fails(context.Background(), problem, bound.HallmanIpsen, stated, rare.Effort{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it fails at a rate of", found.Estimate)
	fmt.Printf("which is %.0e of what it states; more often than stated: %v\n", found.Ratio(), found.Broken())
	// Output:
}

// The error of a dot product on an H100 is beyond 2^-14 of |A||B| about once in
// a hundred thousand times.
func ExampleExceeds() {
	problem := bound.Problem{M: 1, N: 1, K: 16, Machine: tcore.Machine{Device: devices.HopperE4M3()}, X: bound.Uniform(-1, 1), Y: bound.Uniform(-1, 1)}
	e, err := rare.Exceeds(context.Background(), problem, bound.Result{Constant: 0x1p-14, Absolute: math.Inf(1)}, rare.Effort{Seed: 1, Samples: 100})
	fmt.Println(e, err)
	// Output:
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
}
