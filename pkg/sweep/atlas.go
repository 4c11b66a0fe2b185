package sweep

import (
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// atlasData are the distributions of the plan of the atlas: those of the paper,
// positive factors, zeros, a wide range of exponents, outliers, and
// the weights of attention.
var atlasData = []string{
	"U(-1,1)", "U(0,1)", "N(0,1)", "relu(N(0,1))×N(0,1)", "sparse(0.9,N(0,1))",
	"signed(log-uniform(-8,8))", "outliers(0.1,100,N(0,1))", "softmax(1)×N(0,1)",
}

// atlasBlocks are those with scales, for block-scaled devices alone.
var atlasBlocks = []string{"blocks(-4,4,N(0,1))", "blocks(-9,8.8,U(-1,1))"}

// atlasKs are the lengths of the sums: 16 times powers of 8.
var atlasKs = []int{16, 128, 1024, 8192}

// Atlas returns the plan of the atlas (package atlas): every device of
// [devices.All] on a few distributions at K from 16 to 8192, and the
// block-scaled ones on distributions with scales. All products have 8 × 4
// outputs, so that errors at different K can be compared.
func Atlas(seeds []uint64) []Plan {
	machines, withScales := catalogue()
	plan := func(machines []tcore.Machine, sets []string) Plan {
		return Plan{Machines: machines, Data: generators(sets), M: 8, N: 4, Ks: atlasKs, Seeds: seeds, Confidences: []float64{0.99}, Ranges: true}
	}
	return []Plan{plan(machines, atlasData), plan(withScales, atlasBlocks)}
}

// catalogue returns the devices of [devices.All] as machines, and those among
// them whose blocks have scales.
func catalogue() (machines, withScales []tcore.Machine) {
	for _, d := range devices.All() {
		m := tcore.Machine{Name: d.Name, Device: d}
		machines = append(machines, m)
		if d.ScaleBlock > 0 {
			withScales = append(withScales, m)
		}
	}
	return machines, withScales
}

// generators returns the distributions of the names, all of which there are.
func generators(names []string) (sets []Generator) {
	for _, name := range names {
		l, err := FindGenerator(name)
		if err != nil {
			panic(err)
		}
		sets = append(sets, l)
	}
	return sets
}
