package study

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// quantisedAtlas returns an atlas of the recipes of AtlasRecipes and one more
// machine, in which all numbers differ.
func quantisedAtlas() *atlas.Atlas {
	a := &atlas.Atlas{Manifest: atlas.Manifest{Seeds: []uint64{1}, M: 2, N: 2, Confidence: 0.9}}
	for _, name := range []string{"hopper-wgmma-e4m3-binary32", "blackwell-tcgen05-e4m3-binary32"} {
		a.Devices = append(a.Devices, atlas.Device{Name: name, Machine: name})
	}
	next := 1e-6
	part := func() atlas.Part {
		next *= 1.25
		return atlas.Part{Spread: next}
	}
	for _, of := range append(slices.Clone(recipeLines), recipeLine{machine: a.Devices[1].Name, recipe: "torchao-e4m3-row"}) {
		for _, l := range []string{"N(0,1)", "U(0,1)"} {
			for _, k := range []int{128, 512} {
				a.Recipes = append(a.Recipes, atlas.RecipeCell{Errors: atlas.Errors{Machine: of.machine, Data: l, K: k, Runs: 1, Outputs: 4}, Recipe: of.recipe, Quantised: part(), Accumulated: part()})
			}
		}
	}
	for _, l := range []string{"N(0,1)", "U(0,1)", "blocks(-4,4,N(0,1))"} {
		a.Cells = append(a.Cells, atlas.Cell{Errors: atlas.Errors{Machine: a.Devices[0].Name, Data: l, K: 128}})
	}
	return a
}

func TestAtlasRecipes_are_drawn_under_their_names(t *testing.T) {
	a := quantisedAtlas()
	series := drawn.Series(t, AtlasRecipes(a, "N(0,1)", "U(0,1)"))
	for i, line := range recipeLines {
		for j, l := range []string{"N(0,1)", "U(0,1)"} {
			c := a.Recipes[4*i+2*j : 4*i+2*j+2]
			for name, want := range map[string][]float64{
				line.Label: {c[0].Accumulated.Spread, c[1].Accumulated.Spread}, line.Label + ", quantised": {c[0].Quantised.Spread, c[1].Quantised.Spread},
			} {
				if got := drawn.Ys(series["Entries ~ "+l+": "+name]); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %v, want %v", name, l, got, want)
				}
			}
		}
	}
}

// The map has a row for each recipe that reaches a thousandth and a column for
// data with recipes alone, and the share of the machine where it is largest,
// whichever that is.
func TestAtlasShares_are_drawn_under_their_names(t *testing.T) {
	a := quantisedAtlas()
	for i := range a.Recipes { // the second machine of the first recipe has all, half or next to nothing
		a.Recipes[i].Accumulated.Spread = a.Recipes[i].Quantised.Spread / 3
	}
	a.Recipes[13].Accumulated.Spread = 1e3 * a.Recipes[13].Quantised.Spread
	a.Recipes[15].Accumulated.Spread = 0
	a.Recipes[7].Accumulated = atlas.Part{} // of DeepGEMM
	a.Recipes[9].Accumulated, a.Recipes[11].Outputs = atlas.Part{}, 0
	file, err := AtlasShares(a, 512).CSV()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := csv.NewReader(strings.NewReader(string(file))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for i, p := range parts {
		if p[0] == "region" {
			told[p[5]] = parts[i+1][5]
		}
	}
	rows, deepgemm := recipeLines[0].recipe, recipeLines[1].recipe // and int8 has none
	want := map[string]string{
		rows + "; N(0,1)": "> 99 %", rows + "; U(0,1)": "10 %", deepgemm + "; N(0,1)": "10 %", deepgemm + "; U(0,1)": "< 0.1 %",
	}
	for name := range want {
		if told[name] != want[name] {
			t.Errorf("%s: %q, want %q", name, told[name], want[name])
		}
	}
	if len(told) != len(want) {
		t.Errorf("%v, want %d cells", told, len(want))
	}
	if got := recipeHeading(deepgemm); got != "deepgemm-1x128, 128x128" {
		t.Errorf("heading %q", got)
	}
}

// Sums contribute the larger part where the notebook says so: at K = 8192 of
// entries from U(0,1), on Hopper and Ada, and elsewhere at most a hundredth.
func TestAtlasRecipes_are_what_the_notebook_says(t *testing.T) {
	a := recordedAtlas(t)
	text, err := os.ReadFile("../../notebooks/16-atlas.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	p := recipeParts(a, recipeLines[0].machine, recipeLines[0].recipe, "U(0,1)")
	if want := fmt.Sprintf("it is %s times the other", times(p[1].rms[2]/p[0].rms[2])); !strings.Contains(string(text), want) {
		t.Errorf("the notebook does not say %q", want)
	}
	// In DeepGEMM the error of sums stays what it is at K = 128.
	blocks := recipeParts(a, recipeLines[1].machine, recipeLines[1].recipe, "U(0,1)")[1].rms
	if r := blocks[2] / blocks[0]; r < 0.8 || r > 1.25 {
		t.Errorf("with DeepGEMM the error of sums grows %v times", r)
	}
	for _, c := range a.Recipes {
		d, _ := a.Device(c.Machine)
		most := c.K == 8192 && c.Data == "U(0,1)" && d.Family == "truncated, 13 bits"
		if share := c.Share(); most && share < 0.5 || !most && c.K == 8192 && share > 0.01 {
			t.Errorf("%s on %s, %s, K = %d: sums have the share %v", c.Recipe, c.Machine, c.Data, c.K, share)
		}
		if best, ok := c.Tightest(sweep.FromDistribution); ok && c.Machine == recipeLines[0].machine && c.Data == "N(0,1)" && c.K == 8192 && best.Conversion > best.Constant/2 {
			t.Errorf("%s on %s: the bound is mostly of quantisation", c.Recipe, c.Machine)
		}
	}
}
