package bound

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// promoting returns the kernels that multiply sums of so many products as the
// machine promotes by their scales, and add them.
func promoting(m tcore.Machine) []quant.Kernel {
	kernels := []quant.Kernel{quant.DeepGEMMKernel(m), quant.DeepSeekKernel(m)}
	for i := range kernels {
		kernels[i].Every, kernels[i].Machine.Promote = m.Promote, 0
	}
	return kernels
}

// within returns pairs of recipes of which scales are within a sum.
func within() []*Recipes {
	return []*Recipes{
		{quant.DeepSeek(false), quant.DeepGEMM(quant.Tile128, false)},
		{quant.DeepGEMM(quant.Vector128, true), quant.TransformerEngine(tcore.E4M3, quant.Tile128, true, tcore.Binary32)},
		{quant.DeepGEMM(quant.Vector128, false), quant.Torchao(tcore.E4M3, quant.PerVector, false)},
		{quant.DeepSeek(true), quant.DeepSeek(false)},
	}
}

// No output of a kernel that scales parts of a sum errs by more than a bound
// that holds, on data that are not random at all.
func TestQuantised_contains_the_errors_of_sums_that_are_scaled_in_parts(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	kinds := hostile(rng)
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.AdaE4M3(), devices.BlackwellE4M3()} {
		held := 0
		for n, recipes := range within() {
			for at, name := range slices.Sorted(maps.Keys(kinds)) {
				if testing.Short() && (n+at)%3 > 0 {
					continue
				}
				draw := kinds[name]
				a, b := filled(6, 320, draw), filled(320, 3, draw)
				k := given(t, a, b, d)
				k.Recipes, k.Promote = recipes, []int{128, 64}[at%2]
				if at%4 > 1 {
					k.Output = tcore.BFloat16
				}
				all := results(t, k, at99)
				for _, kernel := range promoting(k.Machine) {
					errors, sizes := errorsOf(t, kernel, k, a, b)
					for _, r := range all {
						if !r.Holds {
							continue
						}
						held++
						for j, e := range errors {
							if limit := r.Limit(sizes[j]); e > limit {
								t.Errorf("%s, %s, %v, %s, %s: error %v of %v, limit %v", d.Name, kernel.Name, recipes, name, r.Bound, e, sizes[j], limit)
								break
							}
						}
					}
				}
			}
		}
		if held == 0 {
			t.Errorf("%s: no bound holds", d.Name)
		}
	}
}

// The largest error of 8192 outputs of random matrices is below the bound from
// their laws, and not far below where the device adds well.
func TestQuantised_contains_the_errors_of_random_sums_that_are_scaled_in_parts(t *testing.T) {
	recipes := within()
	for i, law := range []Distribution{Uniform(-1, 1), Normal(0, 1), Uniform(0, 1)} {
		if testing.Short() && i > 1 {
			continue
		}
		for _, d := range []tcore.Device{devices.HopperE4M3(), devices.BlackwellE4M3()} {
			k := Problem{M: 1024, N: 8, K: 256, Machine: tcore.Machine{Device: d, Promote: 128}, X: law, Y: law, Represented: true, Recipes: recipes[i%2]}
			r := k.tightest(at99)
			largest := k.largestOfKernel(t, rand.New(rand.NewPCG(uint64(i), 256)))
			if !r.Holds || largest > r.Constant || d.Architecture != "Hopper" && largest < 0.35*r.Constant {
				t.Errorf("%s, %v, %v: %v, bound %+v", d.Name, k.Recipes, law, largest, r)
			}
			t.Logf("%s, %v, %v: %.3g, %.2f of the bound", d.Name, k.Recipes, law, largest, largest/r.Constant)
		}
	}
}

func TestQuantised_says_what_it_cannot_bound_of_sums_in_parts(t *testing.T) {
	r := within()[0]
	law := Problem{M: 256, N: 128, K: 256, Machine: tcore.Machine{Device: devices.HopperE4M3(), Promote: 128}, X: Normal(0, 1), Y: Uniform(0, 1), Represented: true, Recipes: r}
	if z := law.tightest(at99); !z.Holds {
		t.Fatalf("%+v", z)
	}
	for want, change := range map[string]func(*Problem){
		"no bound is known of kernels that apply them, unless Promote divides 128": func(k *Problem) { k.Promote = 96 },
		"blocks 1×128 and 1×all, want the same length along K":                     func(k *Problem) { k.Recipes = within()[2] },
		"256 rows and 200 columns in tiles 1×128 and 128×128, want whole tiles":    func(k *Problem) { k.N = 200 },
		"K = 320 is no multiple of 128":                                            func(k *Problem) { k.K = 320 },
		"scales have a product of at most": func(k *Problem) {
			r := quant.TransformerEngine(tcore.E4M3, quant.Vector128, true, tcore.Binary32)
			k.Recipes, k.X, k.Y = &Recipes{r, r}, Normal(0, 0x1p-60), Normal(0, 0x1p-60)
		},
		"and of the tensor": func(k *Problem) { r := *k.Recipes; r.A.Tensor = &quant.Scaling{}; k.Recipes = &r },
	} {
		k := law
		change(&k)
		if z := k.tightest(at99); z.Holds || !strings.Contains(z.Why, want) {
			t.Errorf("%+v, want %s", z, want)
		}
	}
	constant := func(N, across int) float64 {
		k := law
		k.N, k.Recipes = N, &Recipes{r.A, quant.DeepGEMM(quant.Block{Along: 128, Across: across}, false)}
		return k.tightest(at99).Constant
	}
	if tile, own, vector := constant(8, 128), constant(8, 8), constant(8, 1); tile != own || tile == vector {
		t.Errorf("8 columns in a tile of 128: %v, of 8: %v, without: %v", tile, own, vector)
	}
	a := advise(t, Problem{M: 256, N: 128, K: 256, X: Uniform(-1, 1), Y: Uniform(0, 1), Represented: true, Recipes: r}, 0.05, devices.HopperE4M3())[0]
	if a.Meets() || a.Promote != 128 || a.SplitK != 0 { // scales of parts of 128 need the promotion
		t.Errorf("advice %+v, want a cure by Promote = 128, and not by SplitK", a)
	}
}
