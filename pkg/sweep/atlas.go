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

// atlasRecipes are the recipes of the plan of the atlas: those that libraries
// use with devices of the catalogue, and int8.
var atlasRecipes = []string{
	"int8-tensor", "int8-row", "int8-1x128",
	"torchao-e4m3-tensor", "torchao-e4m3-row", "torchao-e4m3-row-power",
	"deepgemm-1x128:deepgemm-128x128", "deepgemm-1x128-ue8m0:deepgemm-128x128-ue8m0",
	"torchao-e5m2-tensor", "torchao-e5m2-row",
	"mxe4m3-floor", "mxe4m3-rceil", "mxe5m2-floor", "mxe5m2-rceil",
	"mxe2m3-floor", "mxe2m3-rceil", "mxe3m2-floor", "mxe3m2-rceil",
	"mxe2m1-floor", "mxe2m1-even", "mxe2m1-rceil",
	"nvfp4-te-1x16", "nvfp4-4over6-mse", "nvfp4-torchao-one-level",
}

// Atlas returns the plans of the atlas (package atlas): every device of
// [devices.All] on a few distributions at K from 16 to 8192; the block-scaled
// ones on distributions with scales; and those that add in binary32, each that
// computes like another once, with the recipes that they take, at K from 128
// on. All products have 8 × 4 outputs, so that errors at different K can be
// compared.
func Atlas(seeds []uint64) []Plan {
	machines, withScales := catalogue()
	plan := func(machines []tcore.Machine, sets []string) Plan {
		return Plan{Machines: machines, Data: generators(sets), M: 8, N: 4, Ks: atlasKs, Seeds: seeds, Confidences: []float64{0.99}, Ranges: true}
	}
	quantised := plan([]tcore.Machine{Integers}, atlasData)
	quantised.Ks, quantised.Told, quantised.Ranges = atlasKs[1:], []Told{FromDistribution, FromMatrices}, false
	for _, name := range atlasRecipes {
		r, err := FindRecipes(name)
		if err != nil {
			panic(err) // cannot happen: a test calls Atlas
		}
		quantised.Recipes = append(quantised.Recipes, r)
	}
	seen := map[tcore.Device]bool{}
	for _, m := range machines {
		if d := anonymous(m.Device); !seen[d] && m.Device.C.Precision == tcore.Binary32.Precision && quantised.takes(m) {
			seen[d] = true
			quantised.Machines = append(quantised.Machines, m)
		}
	}
	return []Plan{plan(machines, atlasData), plan(withScales, atlasBlocks), quantised}
}

// takes reports whether the machine takes what a recipe of the plan makes.
func (p Plan) takes(m tcore.Machine) bool {
	p.Machines = []tcore.Machine{m}
	_, err := p.units()
	return err == nil
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
