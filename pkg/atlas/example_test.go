package atlas_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

func ExampleRecorded() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range a.Select(atlas.Query{Device: "hopper-wgmma-e4m3-binary32", Data: "U(0,1)"}) {
		best, _ := c.Tightest(bound.Moments)
		fmt.Printf("K = %4d: RMS %.2g, largest %.2g; %s, τ = %.2g\n", c.K, c.RMS(), c.Largest, best.Name, best.Tightness)
	}
	// Output:
	// K =   16: RMS 4e-05, largest 0.0001; truncated-random-data, τ = 0.27
	// K =  128: RMS 0.00047, largest 0.00079; truncated-random-data, τ = 0.26
	// K = 1024: RMS 0.014, largest 0.015; truncated-random-data, τ = 0.64
	// K = 8192: RMS 0.13, largest 0.14; truncated-random-data, τ = 0.73
}

func ExampleAtlas() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	n := a.Count()
	fmt.Println(n.Devices, "devices,", len(a.Machines()), "machines,", len(a.Data()), "distributions, K =", a.Ks(), "and", n.Violated, "violations")
	d, _ := a.Device("ada-mma-binary16-binary32")
	fmt.Println(d.Name, "computes as", d.Machine)
	files, err := a.Pack()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name, bytes.Count(f.Data(), []byte("\n")) > 0)
	}
	// Output:
	// 125 devices, 70 machines, 10 distributions, K = [16 128 1024 8192] and 0 violations
	// ada-mma-binary16-binary32 computes as turing-mma-binary16-binary32
	// errors.npz true
	// bounds.npz true
	// recipes.npz true
	// recipe_bounds.npz true
	// names.json true
	// LICENSE true
	// README.md true
	// manifest.json true
}

func ExampleErrors() {
	fmt.Println(atlas.Errors{Mean: -3e-4, Spread: 4e-4}.RMS())
	// Output: 0.0005
}

func ExampleCell() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	c := a.Select(atlas.Query{Device: "cdna3-mfma-binary16-binary32", Data: "N(0,1)", K: 1024})[0]
	random, certain, exceeded := c.Claimed(bound.Trace)
	fmt.Println(random, "probabilistic bounds hold and", certain, "certain ones;", exceeded, "are exceeded")
	fmt.Println(len(sweep.Violated(c.Rows(a.Manifest), sweep.Sure)), "of", len(c.Bounds), "fail more often than stated")
	// Output:
	// 4 probabilistic bounds hold and 4 certain ones; 0 are exceeded
	// 0 of 54 fail more often than stated
}

// What truncated sums of positive numbers lose exceeds what quantisation to
// e4m3 does from K = 1024 on.
func ExampleRecipeCell() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range a.SelectRecipes(atlas.Query{Device: "hopper-wgmma-e4m3-binary32", Recipe: "torchao-e4m3-row", Data: "U(0,1)"}) {
		on, _ := c.OnQuantisation(sweep.FromDistribution)
		best, _ := c.Tightest(sweep.FromDistribution)
		fmt.Printf("K = %4d: quantised %.2g of at most %.2g, in all %.2g of %.2g; %.1f %% of its square from sums\n",
			c.K, c.Quantised.Largest, on.Constant, c.Largest, best.Constant, 100*c.Share())
	}
	// Output:
	// K =  128: quantised 0.011 of at most 0.031, in all 0.01 of 0.049; 1.9 % of its square from sums
	// K = 1024: quantised 0.0047 of at most 0.0077, in all 0.021 of 0.15; 98.9 % of its square from sums
	// K = 8192: quantised 0.0011 of at most 0.0025, in all 0.15 of 1.2; 100.0 % of its square from sums
}

func ExampleAtlas_SelectRecipes() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(a.RecipeNames()), "recipes, K =", a.RecipeKs())
	for _, c := range a.SelectRecipes(atlas.Query{Format: "e2m1", Recipe: "nvfp4-te-1x16", K: 1024, Data: "N(0,1)"}) {
		fmt.Printf("%s: RMS %.2g, of quantisation %.2g, of sums %.2g\n", c.Machine, c.RMS(), c.Quantised.RMS(), c.Accumulated.RMS())
	}
	// Output:
	// 24 recipes, K = [128 1024 8192]
	// blackwell-tcgen05-f4ue4m3x16-binary32: RMS 0.0057, of quantisation 0.0057, of sums 1.3e-09
}

// The recipe of NVFP4 has a scale of the tensor beside those of blocks.
func ExampleFindRecipe() {
	r, err := atlas.FindRecipe("nvfp4-te-1x16")
	fmt.Println(r.A.Element, r.A.Scale, r.A.Block, r.A.Tensor, err)
	// Output:
	// e2m1 ue4m3 1×16 binary32 <nil>
}

func ExampleQuery() {
	a, err := atlas.Recorded()
	if err != nil {
		log.Fatal(err)
	}
	q := atlas.Query{Device: "arm", Format: "binary32"}
	i := slices.IndexFunc(a.Devices, q.Matches)
	fmt.Println(a.Devices[i].Name)
	// Output:
	// arm-fmopa-binary32-binary32
}

func ExampleRead() {
	_, err := atlas.Read(os.DirFS("."))
	fmt.Println(err)
	// Output:
	// atlas: there is no manifest.json, want the folder of an atlas
}

func ExampleNew() {
	m, err := sweep.FindMachine("hopper-wgmma-binary16-binary32")
	if err != nil {
		log.Fatal(err)
	}
	plan := sweep.Atlas([]uint64{1})[0]
	plan.Machines, plan.Data, plan.Ks = plan.Machines[:0:0], plan.Data[:1], []int{16}
	plan.Machines = append(plan.Machines, m)
	rows, err := plan.Run(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	a, err := atlas.New(rows, "roundoff sweep -atlas -seeds 1\nroundoff (devel)")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Count().Products, "product of", a.M, "×", a.Cells[0].K, "×", a.N)
	// Output:
	// 1 product of 8 × 16 × 4
}

func ExampleFamilies() {
	for _, f := range atlas.Families() {
		fmt.Println(f)
	}
	// Output:
	// sums in binary16
	// truncated, 13 bits
	// truncated, 23 to 25 bits
	// truncated, 35 bits
	// binary32, to odd
	// binary32, to nearest
	// binary64
}
