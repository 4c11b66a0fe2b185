package sweep

import "github.com/roundofflab/roundoff/pkg/tcore"

// standardData are the distributions of the standard plan: smooth ones, with
// heavy tails, with zeros, with few values, with subnormal elements or results,
// and some whose elements are dependent.
var standardData = []string{
	"U(-1,1)", "U(0,1)", "U(1,2)", "N(0,1)", "N(1,1)", "U(0.09995,0.1)", "U(0,0.001)", "N(0,0.01)",
	"log-normal", "log-uniform(-8,8)", "signed(log-uniform(-8,8))", "laplace(1)", "t(3)",
	"sparse(0.9,N(0,1))", "relu(N(0,1))×N(0,1)", "U(0,1)×N(1,1)", "mix(0.5,N(0,1),N(0,1000))",
	"k/8", "grid(-1,1,0.1)", "grid(0,1,0.01)", "point(0.1)", "point(0.1)×point(0.3333333333333333)",
	"signed(log-uniform(-24,-14))", "log-uniform(-9,-6)", "signed(log-uniform(-75,-60))",
	"softmax(1)×N(0,1)", "softmax(4)×N(0,1)", "sorted(U(0,1))", "ar(0.99)", "N(0,1)×ar(0.99)",
	"outliers(0.1,100,N(0,1))", "rows(-3,3,U(-1,1))",
}

// scaledData are the distributions of the plan for block-scaled devices. Their
// scales cover the range of e8m0 and ue4m3, and parts of it where products
// neither overflow nor underflow.
var scaledData = []string{
	"blocks(-4,4,N(0,1))", "blocks(-9,8.8,U(-1,1))", "blocks(-9,-6,U(0,1))", "blocks(-60,60,N(0,1))",
	"blocks(-127,127,U(-1,1))", "blocks(-127,-50,U(0,1))", "blocks(-80,-60,N(0,1))", "blocks(40,62,N(0,0.01))",
	"blocks(-127,127,N(0,1))×N(0,1)", "blocks(-4,4,log-uniform(-9,-6))", "blocks(-20,20,sparse(0.9,N(0,1)))",
}

// Standard returns the standard plan in parts of different sizes: every device
// of [devices.All] on many kinds of distributions, with short and long K, both
// multiples of the terms of a block and others; and the block-scaled devices on
// distributions with scales. Longer sums have matrices with fewer outputs.
//
// Moments and the contents of files ([Told]) are determined anew for every
// product, at a hundred times the cost. For those in told, other than
// FromDistribution, the plan therefore has about one K in three and at most two
// seeds. A single seed cannot show that a probabilistic bound fails.
func Standard(seeds []uint64, told ...Told) []Plan {
	machines, withScales := catalogue()
	plan := func(machines []tcore.Machine, sets []string, m, n int, ks ...int) Plan {
		return Plan{Machines: machines, Data: generators(sets), M: m, N: n, Ks: ks, Seeds: seeds, Confidences: []float64{0.99}, Ranges: true}
	}
	plans := []Plan{
		plan(machines, standardData, 16, 16, 1, 2, 3, 7, 16, 33),
		plan(machines, standardData, 16, 8, 100, 129, 1000),
		plan(machines, standardData, 8, 4, 2047, 10000),
		plan(withScales, scaledData, 16, 8, 1, 3, 32, 33, 100, 129, 1000),
	}
	for i, ks := range [][]int{{3, 33}, {129, 1000}, {10000}} {
		if more := withoutDistribution(told); len(more) > 0 {
			p := plans[i]
			p.Ks, p.Seeds, p.Told = ks, seeds[:min(2, len(seeds))], more
			plans = append(plans, p)
		}
	}
	return plans
}

// withoutDistribution returns told without FromDistribution.
func withoutDistribution(told []Told) (more []Told) {
	for _, t := range told {
		if t != FromDistribution {
			more = append(more, t)
		}
	}
	return more
}
