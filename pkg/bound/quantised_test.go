package bound

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

// taken returns the recipes of the catalogue that the device takes, for both
// matrices, or its natural ones if there are none.
func taken(d tcore.Device) []*Recipes {
	var all []*Recipes
	for _, r := range quant.Recipes() {
		if pair := (&Recipes{r, r}); pair.refuses(tcore.Machine{Device: d}) == "" {
			all = append(all, pair)
		}
	}
	if r, ok := NaturalRecipes(d); ok && len(all) == 0 {
		all = append(all, r)
	}
	return all
}

// kernelErrors returns |D̂ - D| and |A||B| of a product as the kernel of the
// library computes it, exactly.
func kernelErrors(t *testing.T, k Problem, a, b blas64.General) (errors, sizes []float64) {
	t.Helper()
	kernel := quant.EpilogueKernel(k.Machine)
	if k.Device.ScaleBlock > 0 {
		kernel = quant.AlphaKernel(k.Machine)
	}
	return errorsOf(t, kernel, k, a, b)
}

// errorsOf is kernelErrors for one kernel.
func errorsOf(t *testing.T, kernel quant.Kernel, k Problem, a, b blas64.General) (errors, sizes []float64) {
	t.Helper()
	qa, err := k.Recipes.A.Quantise(single(a), quant.Left)
	if err != nil {
		t.Fatal(err)
	}
	qb, err := k.Recipes.B.Quantise(single(b), quant.Right)
	if err != nil {
		t.Fatal(err)
	}
	d, err := kernel.Multiply(qa, qb)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Rows {
		for j := range b.Cols {
			sum, size := new(big.Float).SetPrec(600), new(big.Float).SetPrec(600)
			for l := range a.Cols {
				p := new(big.Float).SetPrec(600).SetFloat64(a.Data[i*a.Stride+l])
				p.Mul(p, big.NewFloat(b.Data[l*b.Stride+j]))
				sum.Add(sum, p)
				size.Add(size, p.Abs(p))
			}
			e, _ := sum.Sub(sum, big.NewFloat(float64(d.Data[i*d.Stride+j]))).Float64()
			s, _ := size.Float64()
			errors, sizes = append(errors, math.Abs(e)), append(sizes, s*(1+1e-15))
		}
	}
	return errors, sizes
}

// hostile are data of kinds on which rounding does not average out, or on which
// alignment or underflow loses most.
func hostile(rng *rand.Rand) map[string]func() float64 {
	step, ar, size, n := 0., 0., 0., 0
	return map[string]func() float64{
		"N(0,1)":    rng.NormFloat64,
		"U(0,1)":    rng.Float64,
		"constant":  func() float64 { return 0.3 },
		"grid":      func() float64 { return float64(rng.IntN(10)) / 10 },
		"tiny":      func() float64 { return math.Ldexp(rng.NormFloat64(), -40) },
		"many_size": func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20) },
		"many_sizes_of_blocks": func() float64 {
			if n++; n%64 == 1 {
				size = math.Ldexp(1, rng.IntN(40)-20)
			}
			return size * rng.NormFloat64()
		},
		"sparse": func() float64 {
			if rng.IntN(40) > 0 {
				return 0
			}
			return rng.NormFloat64()
		},
		"sorted":     func() float64 { step += 0.01; return step },
		"AR(1)":      func() float64 { ar = 0.99*ar + rng.NormFloat64(); return ar },
		"one_of_all": func() float64 { return []float64{448, 1. / 512, 3, 1e-3}[rng.IntN(4)] },
	}
}

// No output of a library's kernel errs by more than a bound that holds, for
// every device that takes a recipe, on data that are not random at all.
func TestQuantised_contains_the_errors_of_given_matrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	kinds := hostile(rng)
	all := []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXE5M2(), devices.BlackwellMXE3M2(), devices.BlackwellMXE2M3(), devices.BlackwellMXE2M1(),
		devices.BlackwellMXF4(), devices.BlackwellMXF4x2(), devices.BlackwellNVF4(), devices.HopperE4M3(), devices.HopperE5M2(), devices.BlackwellE4M3(), devices.AdaE4M3()}
	held := map[string]int{}
	for i, d := range all {
		for n, recipes := range taken(d) {
			for at, name := range slices.Sorted(maps.Keys(kinds)) {
				if rarely(8, i+n, at) {
					continue
				}
				draw := kinds[name]
				a, b := filled(6, 320, draw), filled(320, 3, draw)
				k := given(t, a, b, d)
				k.Recipes = recipes
				switch (n + at) % 4 {
				case 1:
					k.Promote = 128
				case 2:
					k.SplitK, k.Output = 2, tcore.BFloat16
				case 3:
					k.Output = tcore.Binary16
				}
				errors, sizes := kernelErrors(t, k, a, b)
				for _, r := range results(t, k, at99) {
					if !r.Holds {
						continue
					}
					held[d.Name]++
					for j, e := range errors {
						if limit := r.Limit(sizes[j]); e > limit && !(k.Output == tcore.Binary16 && sizes[j] > 3e4) {
							t.Errorf("%s, %v, %s, %s: error %v of %v, limit %v", d.Name, recipes, name, r.Bound, e, sizes[j], limit)
							break
						}
					}
				}
			}
		}
	}
	for _, d := range all {
		if held[d.Name] == 0 {
			t.Errorf("%s: no bound holds", d.Name)
		}
	}
	t.Log(held)
}

// Of numbers that codes and scales stand for nothing is lost but by the sums,
// whose bound by itself contains their errors then.
func TestQuantised_contains_the_errors_of_sums(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	kinds, greatest := hostile(rng), map[string]float64{}
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXE2M3(), devices.BlackwellMXF4x2(), devices.BlackwellNVF4(), devices.HopperE4M3()} {
		for n, recipes := range taken(d) {
			if strings.Contains(recipes.A.Name, "4over6") {
				continue // its second scale need not be found again
			}
			for at, name := range slices.Sorted(maps.Keys(kinds)) {
				if rarely(3, n, at) && d.Scale.Equal(tcore.E8M0) || rarely(2, n, at) && !d.Scale.Equal(tcore.E8M0) {
					continue
				}
				draw := kinds[name]
				a, b := filled(8, 256, draw), filled(256, 4, draw)
				for range 2 {
					x, errA := newCodes(recipes.A, quant.Left, a, d.ScaleBlock > 0)
					y, errB := newCodes(recipes.B, quant.Right, b, d.ScaleBlock > 0)
					if errA != nil || errB != nil {
						t.Fatal(errA, errB)
					}
					for i := range a.Data {
						a.Data[i] = float64(float32(x.values.Data[i]))
					}
					for i := range b.Data {
						b.Data[i] = float64(float32(y.values.Data[i]))
					}
				}
				k := given(t, a, b, d)
				k.Recipes = recipes
				errors, sizes := kernelErrors(t, k, a, b)
				for _, r := range results(t, k, at99) {
					if !r.Holds || r.Parts.Conversion > 1e-12 {
						continue
					}
					for j, e := range errors {
						if limit := r.Limit(sizes[j]); e > limit {
							t.Errorf("%s, %v, %s, %s: error %v of %v, limit %v", d.Name, recipes, name, r.Bound, e, sizes[j], limit)
							break
						} else if limit > 0 && r.Bound == "truncation" {
							greatest[d.Name] = max(greatest[d.Name], e/limit)
						}
					}
				}
			}
		}
		if !(greatest[d.Name] > 0) {
			t.Errorf("%s: no error at all", d.Name)
		}
	}
	t.Logf("the largest error over the bound: %v", greatest)
}

// What recipes lose of given matrices is known exactly.
func TestQuantised_knows_what_given_matrices_lose(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	a, b := filled(5, 96, rng.NormFloat64), filled(96, 3, rng.Float64)
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellNVF4(), devices.HopperE4M3()} {
		for _, recipes := range taken(d) {
			m := (&Given{A: a, B: b}).quantise(recipes, d.ScaleBlock > 0, false, at99)
			x, y, err := recipes.factors(a, b)
			if err != nil || m.why != "" {
				t.Fatal(err, m.why)
			}
			worst, ratio := 0.0, 1.0
			for i := range a.Rows {
				for j := range b.Cols {
					e, size, converted := 0.0, 0.0, 0.0
					for l := range a.Cols {
						p, q := a.Data[i*96+l]*b.Data[l*3+j], x.Data[i*96+l]*y.Data[l*3+j]
						e, size, converted = e+q-p, size+math.Abs(p), converted+math.Abs(q)
					}
					worst, ratio = max(worst, math.Abs(e)/size), max(ratio, converted/size)
				}
			}
			// Dequantised numbers are rounded to binary32 where there are two scales.
			if math.Abs(m.error-worst) > 1e-6*worst || math.Abs(m.sizes-ratio) > 1e-6 || m.random {
				t.Errorf("%s, %v: %+v, want %v and %v", d.Name, recipes, m.conversion, worst, ratio)
			}
		}
	}
}

// factors returns what the library makes of the matrices.
func (r *Recipes) factors(a, b blas64.General) (x, y blas64.General, err error) {
	qa, errA := r.A.Quantise(single(a), quant.Left)
	qb, errB := r.B.Quantise(single(b), quant.Right)
	if errA != nil || errB != nil {
		return x, y, errA
	}
	double := func(q *quant.Quantised) blas64.General {
		z := blas64.General{Rows: q.Rows, Cols: q.Cols, Stride: q.Cols, Data: make([]float64, q.Rows*q.Cols)}
		for i, v := range q.Dequantise().Data {
			z.Data[i] = float64(v)
		}
		return z
	}
	return double(qa), double(qb), nil
}

// The largest error of 8192 outputs of random matrices, on the device, is below
// the bound from their laws, and not far below.
func TestQuantised_contains_the_errors_of_random_matrices(t *testing.T) {
	lengths, seeds := []int{256}, 1
	if !testing.Short() {
		lengths, seeds = []int{256, 4096}, 1
	}
	for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXE2M3(), devices.BlackwellMXF4(), devices.BlackwellNVF4(), devices.BlackwellE4M3()} {
		for j, law := range []Distribution{Uniform(-1, 1), Uniform(0, 1), Normal(0, 1), laplace()} {
			if law.of().law == nil {
				continue
			}
			for n, recipes := range taken(d) {
				if rarely(2, j, n) {
					continue
				}
				for i, K := range lengths {
					if i > 0 && !*whole && law.String() != Uniform(-1, 1).String() {
						continue
					}
					if testing.Short() && (strings.HasPrefix(recipes.A.Name, "microx") || d.Scale.Equal(tcore.E8M0) && !strings.HasSuffix(recipes.A.Name, "floor")) {
						continue
					}
					if d.ScaleBlock == 0 && (recipes.A.Scale.Amax != 0 || testing.Short() && recipes.A.Name != "torchao-e4m3-row" || law.String() == "Laplace" || testing.Short() && law.of().law.family == normalFamily) {
						continue
					}
					k := Problem{M: 1024, N: 8, K: K, Machine: tcore.Machine{Device: d}, X: law, Y: law, Represented: true, Recipes: recipes}
					r := k.tightest(at99)
					if recipes.A.Second != nil {
						want := "blocks choose between two scales by their errors"
						if r.Holds || !strings.Contains(r.Why, want) {
							t.Errorf("%v: %+v", recipes, r)
						}
						continue
					}
					if !r.Holds || r.Confidence != at99 {
						t.Errorf("%s, %v, %v: %+v", d.Name, recipes, law, r)
						continue
					}
					for seed := range seeds {
						largest := k.largestOfKernel(t, rand.New(rand.NewPCG(uint64(seed), uint64(K))))
						least := 0.25
						if law.String() == "Laplace" { // whose products have no generating function
							least = 0.1
						}
						if largest > r.Constant || largest < least*r.Constant {
							t.Errorf("%s, %v, %v, K = %d: %v, bound %v, %+v", d.Name, recipes, law, K, largest, r.Constant, r.Parts)
						}
						if seed == 0 {
							t.Logf("%s, %v, %v, K = %d: %.3g, %.2f of the bound, %.1g of it sums", d.Name, recipes, law, K, largest, largest/r.Constant, r.Parts.Accumulation/r.Constant)
						}
					}
				}
			}
		}
	}
}

// largestOfKernel draws A and B and returns the largest |D̂ - D| / |A||B|.
func (k Problem) largestOfKernel(t *testing.T, rng *rand.Rand) float64 {
	t.Helper()
	a, b := filled(k.M, k.K, k.X.from(rng).Rand), filled(k.K, k.N, k.Y.from(rng).Rand)
	qa, _ := k.Recipes.A.Quantise(single(a), quant.Left)
	qb, _ := k.Recipes.B.Quantise(single(b), quant.Right)
	kernel := quant.EpilogueKernel(k.Machine)
	switch {
	case k.Device.ScaleBlock > 0:
		kernel = quant.AlphaKernel(k.Machine)
	case k.Recipes.within(false):
		kernel = promoting(k.Machine)[0]
	}
	d, err := kernel.Multiply(qa, qb)
	if err != nil {
		t.Fatal(err)
	}
	exact, size, largest := matrix.Product64(a, b), sizes(a, b), 0.0
	for i, x := range exact.Data {
		largest = max(largest, math.Abs(float64(d.Data[i])-x)/size.Data[i])
	}
	return largest
}

// Given laws, the device takes scales of blocks up to 448, and its sums are
// multiplied by those of tensors, of which U(-1,1) has at most 1/2688: as those
// of random matrices are.
func TestQuantised_knows_scales_of_tensors(t *testing.T) {
	for _, name := range []string{"nvfp4-te-1x16", "nvfp4-torchao", "nvfp4-modelopt"} {
		r, err := quant.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		law := Uniform(-1, 1)
		k := Problem{M: 64, N: 8, K: 256, Machine: tcore.Machine{Device: devices.BlackwellNVF4()}, X: law, Y: law, Represented: true, Recipes: &Recipes{r, r}}
		q := k.quantised(at99)
		if q.why != "" || !q.outer.applied || math.Abs(q.outer.column*2688-1) > 1e-5 || math.Abs(q.outer.greatest*2688*2688-1) > 1e-5 {
			t.Errorf("%s: %+v, %s", name, q.outer, q.why)
		}
		z, err := r.Quantise(single(filled(k.K, k.N, law.from(rand.New(rand.NewPCG(3, 4))).Rand)), quant.Right)
		if err != nil {
			t.Fatal(err)
		}
		x := q.device.RangeY
		if most, t1 := float64(slices.Max(z.Scales)), float64(z.TensorScale()); x.Scale < most || x.Scale > 449 || most < 440 || t1 > q.outer.column || t1 < 0.99*q.outer.column {
			t.Errorf("%s: scales up to %v, the tensor's is %v, want at most %v and %v, and near", name, most, t1, x.Scale, q.outer.column)
		}
		if least := float64(slices.Min(z.Scales)); x.LeastScale > least || x.LeastScale < 0x1p-9 {
			t.Errorf("%s: the least scale is %v, want %v or more, a number of e4m3", name, least, x.LeastScale)
		}
		if whole := newScaled(r, *law.of().law, 1).scale * 6; whole < 1 || whole > 1+1e-5 {
			t.Errorf("%s: the greatest number becomes %v, want 1", name, whole)
		}
		k.X = Uniform(-0x1p-80, 0x1p-80)
		if r, want := k.tightest(at99), "scales have a product of at most"; r.Holds || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestQuantised(t *testing.T) {
	mx, _ := NaturalRecipes(devices.BlackwellMXE4M3())
	nv, _ := NaturalRecipes(devices.BlackwellNVF4())
	named := func(name string) *Recipes {
		r, err := quant.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return &Recipes{r, r}
	}
	law := Problem{M: 8, N: 4, K: 256, Machine: tcore.Machine{Device: devices.BlackwellMXE4M3()}, X: Normal(0, 1), Y: Uniform(0, 1), Represented: true, Recipes: mx}
	t.Run("says_what_it_cannot_bound", func(t *testing.T) {
		for want, change := range map[string]func(*Problem){
			"recipe nvfp4-torchao-one-level makes e2m1, blackwell-tcgen05-mxe4m3-binary32 takes e4m3":                            func(k *Problem) { k.Recipes = nv },
			"scales in e8m0 of blocks 1×32, blackwell-tcgen05-f4ue4m3x16-binary32 takes them in ue4m3 of 1×16":                   func(k *Problem) { k.Device = devices.BlackwellNVF4(); k.Recipes = named("mxe2m1-floor") },
			"recipe deepgemm-1x128 has scales within a sum, hopper-wgmma-e4m3-binary32 takes none: no bound is known of kernels": func(k *Problem) { k.Device = devices.HopperE4M3(); k.Recipes = named("deepgemm-1x128") },
			"blocks choose between two scales by their errors, want one of amax":                                                 func(k *Problem) { k.Device = devices.BlackwellNVF4(); k.Recipes = named("nvfp4-4over6-mae") },
			"needs the matrices, or densities of independent factors":                                                            func(k *Problem) { k.X = FromMoments("d", k.X.Moments(), nil) },
			"elements of a mean size of 9.63e-35":                                                                                func(k *Problem) { k.X = Uniform(-0x1p-112, 0x1p-112) },
			"K = 250 is no multiple of 32, the length of blocks":                                                                 func(k *Problem) { k.K = 250 },
			"recipe nvfp4-4over6-mae chooses scales by errors that are random": func(k *Problem) {
				k.Device, k.Recipes = devices.BlackwellNVF4(), named("nvfp4-4over6-mae")
				k.Recipes.A.Stochastic.Bits = 8
			},
			"stochastic rounding, want rounding to nearest": func(k *Problem) { r := *k.Recipes; r.B.Stochastic.Bits = 8; k.Recipes = &r },
		} {
			k := law
			change(&k)
			for _, r := range results(t, k, at99) {
				if b, _ := Find(r.Bound); b.Needs < Sums && (r.Holds || !strings.Contains(r.Why, want)) {
					t.Errorf("%s: %+v, want %s", r.Bound, r, want)
				}
			}
			if r := k.tightest(at99); r.Holds || !strings.Contains(r.Why, want) {
				t.Errorf("%+v, want %s", r, want)
			}
		}
	})
	t.Run("says_where_sums_of_codes_may_overflow", func(t *testing.T) {
		a, b := filled(1025, 2, func() float64 { return 1e-3 }), filled(2, 1024, func() float64 { return 1 })
		a.Data[2*1024] = 1 // the codes of the last row alone are large
		k := given(t, a, b, devices.HopperE4M3F16())
		k.Recipes = named("torchao-e4m3-tensor")
		if q := k.quantised(at99); !strings.Contains(q.why, "products of codes add up to 2.01e+05, binary16 ends at 6.55e+04") {
			t.Errorf("%q", q.why)
		}
	})
	t.Run("refuses_matrices_that_it_cannot_quantise", func(t *testing.T) {
		k, ones := law, func() float64 { return 1 }
		k.M, k.N, k.K, k.Given = 2, 2, 32, &Given{A: filled(2, 32, ones), B: filled(32, 2, ones)}
		k.Given.A.Data[32+3] = math.NaN()
		if r, want := k.tightest(at99), "mxe4m3-floor of A[1, 0] = NaN, want a finite number"; r.Holds || !strings.Contains(r.Why, want) {
			t.Errorf("%+v, want %s", r, want)
		}
	})
	t.Run("sums_of_codes_beyond_their_format_are_refused", func(t *testing.T) {
		k := given(t, filled(4, 64, func() float64 { return 1 }), filled(64, 4, func() float64 { return 1 }), devices.BlackwellE2M1F16())
		k.Device.A, k.Device.B = tcore.E4M3, tcore.E4M3
		k.Recipes = named("torchao-e4m3-row")
		if r := k.tightest(at99); r.Holds || !strings.Contains(r.Why, "binary16 ends at 6.55e+04") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("takes_finer_numbers_than_codes", func(t *testing.T) {
		defer func() {
			if s, _ := recover().(string); !strings.Contains(s, "bound: Represented = false with recipe mxe4m3-floor, want true") {
				t.Errorf("%q", s)
			}
		}()
		k := law
		k.Represented = false
		_, _ = Evaluate(k, at99)
	})
	t.Run("has_half_of_the_probability_of_failure_for_each_part", func(t *testing.T) {
		q := law.quantised(at99.Split(2))
		if !q.random || !(q.least > 0) || q.error*q.least == 0 {
			t.Errorf("%+v", q)
		}
		tighter := law.quantised(at99)
		if !(tighter.error < q.error) {
			t.Errorf("%v at the whole, %v at half of it", tighter.error, q.error)
		}
		if b, _ := Find("truncation"); b.quantised(law, q, at99).Confidence != at99 {
			t.Error("is not random")
		}
		random := Bound{Name: "log of the failure", Model: Model{Random: true, Fails: func(Problem) string { return "" }},
			Constant: func(_ Problem, f roundoff.Failure) Value { return plain(-float64(f)) }}
		q.least, q.sizes = 0, 1
		if got, want := random.quantised(law, q, at99).Parts.Accumulation, -float64(at99.Split(2)); got != want {
			t.Errorf("the sums have the failure -%v, want -%v", got, want)
		}
		q.random = false
		if got, want := random.quantised(law, q, at99).Parts.Accumulation, -float64(at99); got != want {
			t.Errorf("the sums have the failure -%v beside what always holds, want -%v", got, want)
		}
	})
	t.Run("counts_scales_outside_of_the_sums", func(t *testing.T) {
		const u = 0x1p-24
		k := law
		k.Output = tcore.BFloat16
		z := Result{Constant: 0.25, Parts: Parts{Accumulation: 0.25}, Underflow: 2, Holds: true}
		q := quantisedProduct{conversion: conversion{error: 0.125, sizes: 1.5, tiny: 1}, outer: outer{true, 8, 4}}
		constant, underflow, p := k.wholeQuantised(z, q)
		β := 1.25*(1+u)*(1+u)*(1+0x1p-8) - 1
		η := (2*8*(1+u)*(1+u)+5*0x1p-149)*(1+0x1p-8) + tcore.BFloat16.MinSubnormal()/2
		if math.Abs(constant/(0.125+1.5*β)-1) > 1e-12 || math.Abs(underflow/(η+β)-1) > 1e-12 || math.Abs(p.Sum()/constant-1) > 1e-12 || p.Conversion != 0.125 {
			t.Errorf("%v, %v, %+v, want %v and %v", constant, underflow, p, 0.125+1.5*β, η+β)
		}
		q.least = 100
		folded, none, _ := k.wholeQuantised(z, q)
		if want := constant + underflow/100; none != 0 || math.Abs(folded/want-1) > 1e-12 {
			t.Errorf("%v, %v, want %v", folded, none, want)
		}
	})
	t.Run("knows_the_scales_and_the_greater_of_two_codes", func(t *testing.T) {
		a, b := filled(1, 2, func() float64 { return 7 }), filled(2, 1, func() float64 { return 0.75 })
		a.Data[1] = 5
		r := named("mxe2m1-floor")
		m := (&Given{A: a, B: b}).quantise(r, true, false, at99)
		if m.x.Scale != 1 || m.y.Scale != 0.125 || m.y.LeastScale != 0.125 || m.x.LeastScale != 1 {
			t.Errorf("scales %v of A and %v of B, want 1 and 0.125", m.x.Scale, m.y.Scale)
		}
		r.A.Stochastic.Bits = 8
		c, err := newCodes(r.A, quant.Left, a, true)
		if err != nil || c.values.Data[0] != 6 || c.values.Data[1] != 6 { // 7 is clipped, 5 is 4 or 6
			t.Errorf("%v, %v, want 6 and 6", c.values.Data, err)
		}
	})
	t.Run("subnormal_codes_of_few_bits_count_in_what_is_less", func(t *testing.T) {
		k := law
		k.Device = devices.BlackwellMXE2M3()
		k.Recipes, _ = NaturalRecipes(k.Device)
		worst := k.ofCodes(Range{}, Range{})
		most, _ := Find("truncation")
		if got, all := k.tightest(at99).Parts.Accumulation, most.Constant(worst, 0).Constant; !(got < all/20) {
			t.Errorf("%v, in the constant %v", got, all)
		}
		for _, recipe := range []string{"mxe2m1-floor", "mxe4m3-floor"} { // in groups, and of more bits
			k.Recipes = named(recipe)
			k.Device = map[string]tcore.Device{"mxe2m1-floor": devices.BlackwellMXF4(), "mxe4m3-floor": devices.BlackwellMXE4M3()}[recipe]
			if n := len(k.sums(k.quantised(at99))); n != 1 {
				t.Errorf("%s: %d problems", recipe, n)
			}
		}
	})
	t.Run("codes_of_laws_are_not_greater_than_their_bounds", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(17, 18))
		for _, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellMXE2M3(), devices.BlackwellMXF4(), devices.BlackwellNVF4(), devices.BlackwellE4M3()} {
			for _, recipes := range taken(d) {
				if recipes.A.Tensor != nil || recipes.A.Scale.Amax != 0 {
					continue
				}
				for range 20 {
					size := math.Ldexp(1, rng.IntN(20)-10)
					x := filled(16, 64, func() float64 { return (rng.Float64()*2 - 1) * size })
					c, err := newCodes(recipes.A, quant.Left, x, d.ScaleBlock > 0)
					if err != nil {
						t.Fatal(err)
					}
					s := newScaled(recipes.A, lawUpTo(size), size)
					for i, v := range c.values.Data {
						if most := min(2*math.Abs(x.Data[i]), (1+s.unit)*math.Abs(x.Data[i])+s.step) * (1 + ε); math.Abs(v) > most {
							t.Errorf("%v: %v becomes %v, at most %v", recipes, x.Data[i], v, most)
						}
					}
					greatest := c.inner.greatest * c.outer.greatest
					if greatest > s.scale || s.scale > 8*greatest && greatest > 1 {
						t.Errorf("%v: scale %v, at most %v", recipes, greatest, s.scale)
					}
				}
			}
		}
		// Scales that the device does not take are in what multiplies its sums.
		k := law
		k.Device, k.Recipes, k.X, k.Y = devices.BlackwellE4M3(), named("torchao-e4m3-row"), Uniform(-3, 3), Uniform(0, 448)
		q := k.quantised(at99)
		if near := func(x, y float64) bool { return y <= x && x < y*(1+1e-5) }; !q.outer.applied || !near(q.outer.column, 1) || !near(q.outer.greatest, 3./448) || q.device.RangeX.Max != 448 || q.device.RangeX.Scale != 1 {
			t.Errorf("%+v", q)
		}
	})
	t.Run("another_recipe_is_a_cure_in_advice", func(t *testing.T) {
		k := Problem{M: 64, N: 8, K: 4096, X: Uniform(0, 1), Y: Uniform(0, 1), Represented: true}
		find := func(d tcore.Device, tolerance float64) Advice {
			advice, err := Advise(k, tolerance, at99, []tcore.Device{d})
			if err != nil {
				t.Fatal(err)
			}
			return advice[0]
		}
		a := find(devices.BlackwellMXF4(), 0.05) // floor scales drift by 12 %
		if a.Meets() || a.Other == nil || a.Other.String() != "mxe2m1-ceil" {
			t.Errorf("%v: %v", a.Recipes, a.Other)
		}
		of := k
		of.Device, of.Recipes = a.Device, a.Other
		if r := of.tightest(at99); !(r.Constant <= 0.05) {
			t.Errorf("%v: %v", a.Other, r.Constant)
		}
		for _, a := range []Advice{find(devices.BlackwellMXF4(), 0.2), find(devices.BlackwellMXF4(), 1e-4), find(devices.HopperF16(), 1e-6)} {
			if a.Other != nil {
				t.Errorf("%s: %v", a.Device.Name, a.Other)
			}
		}
	})
	t.Run("the_recipe_is_the_natural_one_in_advice", func(t *testing.T) {
		k := Problem{M: 1024, N: 8, K: 4096, X: Uniform(-1, 1), Y: Uniform(-1, 1), Represented: true}
		advice, err := Advise(k, 0.02, at99, []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellNVF4(), devices.BlackwellMXF4(), devices.HopperE4M3()})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, a := range advice {
			if a.Recipes != nil {
				names[a.Device.Name] = a.Recipes.String()
			}
			if n := a.Device.ScaleBlock; n > 0 && (!a.Tightest.Holds || a.LeastK%n != 0 || a.LargestK%n != 0 || a.LargestK == 0) {
				t.Errorf("%s: %d to %d, %+v", a.Device.Name, a.LeastK, a.LargestK, a.Tightest)
			}
			for _, K := range []int{a.LeastK, a.LargestK} {
				k := k
				k.Device, k.Recipes, k.K = a.Device, a.Recipes, K
				if r := k.tightest(at99); a.Recipes != nil && r.Constant > 0.02 {
					t.Errorf("%s, K = %d: %v", a.Device.Name, K, r.Constant)
				}
			}
		}
		if len(names) != 3 || names["blackwell-tcgen05-mxe4m3-binary32"] != "mxe4m3-floor" || names["blackwell-tcgen05-f4ue4m3x16-binary32"] != "nvfp4-torchao-one-level" {
			t.Error(names)
		}
	})
}

// Of matrices that are rounded at random, no output errs by more than the bound
// for all of them, whatever the data, more often than it says.
func TestQuantised_contains_the_errors_of_stochastic_rounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	kinds, draws := hostile(rng), 20
	if !testing.Short() {
		draws = 200
	}
	for i, d := range []tcore.Device{devices.BlackwellMXE4M3(), devices.BlackwellNVF4(), devices.HopperE4M3()} {
		recipes := taken(d)[len(taken(d))-2] // of one or two levels, or of a row
		recipes.A.Stochastic.Bits, recipes.B.Stochastic.Bits = 8, 3
		for j, name := range slices.Sorted(maps.Keys(kinds)) {
			if rarely(3, i, j) {
				continue
			}
			draw := kinds[name]
			a, b := filled(12, 160, draw), filled(160, 4, draw)
			k := given(t, a, b, d)
			k.Recipes = recipes
			r := k.tightest(at99)
			if !r.Holds || r.Confidence != at99 || !strings.Contains(r.Why, "random bits that are ideal") {
				t.Errorf("%s, %s: %+v", d.Name, name, r)
				continue
			}
			failures, largest := 0, 0.0
			for seed := range uint64(draws) {
				k.Recipes = &Recipes{recipes.A, recipes.B}
				k.Recipes.A.Stochastic.Seed, k.Recipes.B.Stochastic.Seed = 2*seed+1, 2*seed+2
				errors, sizes := kernelErrors(t, k, a, b)
				over := 0.0
				for j, e := range errors {
					if e > 0 {
						over = max(over, e/r.Limit(sizes[j]))
					}
				}
				largest = max(largest, over)
				if over > 1 {
					failures++
				}
			}
			if failures > draws/50 {
				t.Errorf("%s, %v, %s: %d of %d products beyond the bound, %.3g of it", d.Name, recipes, name, failures, draws, largest)
			}
			t.Logf("%s, %v, %s: %.2f of the bound", d.Name, recipes, name, largest)
		}
	}
}

// No draw has a code greater than those that bounds count with, which some draw
// has.
func TestCodesAtRandom(t *testing.T) {
	a := filled(8, 64, rand.New(rand.NewPCG(21, 22)).NormFloat64)
	r := quant.MX(tcore.E2M1, quant.FloorScale)
	r.Stochastic.Bits = 8
	c, err := newCodes(r, quant.Left, a, true)
	if err != nil {
		t.Fatal(err)
	}
	var draws []*quant.Quantised
	for seed := range uint64(60) {
		r.Stochastic.Seed = seed
		q, err := r.Quantise(single(a), quant.Left)
		if err != nil {
			t.Fatal(err)
		}
		draws = append(draws, q)
	}
	reached := 0
	for i := range a.Rows {
		for j := range a.Cols {
			most, greatest := math.Abs(c.numbers.Data[i*a.Cols+j]), 0.0
			for _, q := range draws {
				greatest = max(greatest, math.Abs(float64(q.Number(i, j))))
			}
			if greatest > most {
				t.Errorf("(%d, %d) = %v: a code of %v, want at most %v", i, j, a.Data[i*a.Cols+j], greatest, most)
			}
			if greatest == most {
				reached++
			}
		}
	}
	if reached < len(a.Data)*3/4 {
		t.Errorf("%d of %d codes reach what bounds count with", reached, len(a.Data))
	}
}

// Recipes that change behind their pointer are other recipes.
func TestQuantised_does_not_remember_recipes_by_their_place(t *testing.T) {
	d := devices.BlackwellMXE4M3()
	rng := rand.New(rand.NewPCG(23, 24))
	k := given(t, filled(8, 64, rng.Float64), filled(64, 8, rng.Float64), d)
	recipes := Recipes{quant.MX(d.A, quant.FloorScale), quant.MX(d.B, quant.FloorScale)}
	k.Recipes = &recipes
	before := k.tightest(at99)
	recipes.A.Stochastic.Bits = 8
	if after := k.tightest(at99); after.Constant == before.Constant || after.Confidence != at99 || before.Confidence == at99 {
		t.Errorf("%+v, and after the change %+v", before, after)
	}
}

// lawUpTo returns the law of uniform numbers of sizes up to most.
func lawUpTo(most float64) law { return law{uniformFamily, -most, most} }
