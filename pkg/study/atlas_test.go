package study

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// atlasSentences are those of notebook 16 that say "all", "none" and the like.
var atlasSentences = []sentence{
	{"none fails more often than it says", claimedHold, ""},
	{"there is no probabilistic bound at all", oddHasNoneNearestOne, ""},
	{"where no bound could be better", nil, definition},
	{"instructions that have no bound of their own", splitHasNone, ""},
	{"is all there is", scaledHasNone, ""},
	{"there is none for that `mma`", splitHasNone, ""},
	{"A device of each family and format", nil, procedure},
	{"a page with all devices and every bound", nil, procedure},
}

func init() { sentences["16"] = atlasSentences }

func recordedAtlas(t *testing.T) *atlas.Atlas {
	t.Helper()
	a, err := atlas.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func claimedHold(t *testing.T) {
	if n := recordedAtlas(t).Count(); n.Claimed == 0 || n.Violated != 0 {
		t.Errorf("%d of %d bounds fail", n.Violated, n.Claimed)
	}
}

func oddHasNone(t *testing.T) {
	a := recordedAtlas(t)
	for _, l := range a.Data() {
		if n, of := uncertain(a, l, "binary32, to odd", bound.Trace); n != of {
			t.Errorf("%s: none in %d of %d cells, want all", l, n, of)
		}
	}
}

// scaledHasNone checks what has the worst case alone: odd rounding, halves,
// block scales, and truncated sums of entries that are not independent.
func scaledHasNone(t *testing.T) {
	oddHasNone(t)
	splitHasNone(t)
	a := recordedAtlas(t)
	for _, l := range []string{"blocks(-4,4,N(0,1))", "blocks(-9,8.8,U(-1,1))", "outliers(0.1,100,N(0,1))", "softmax(1)×N(0,1)"} {
		n, of := 0, 0
		for _, f := range []string{"truncated, 13 bits", "truncated, 23 to 25 bits", "truncated, 35 bits"} {
			none, all := uncertain(a, l, f, bound.Trace)
			n, of = n+none, of+all
		}
		if n != of || of == 0 {
			t.Errorf("%s: none in %d of %d cells, want all", l, n, of)
		}
	}
}

func oddHasNoneNearestOne(t *testing.T) {
	oddHasNone(t)
	nearestHasOne(t)
}

// splitHasNone checks the instructions that truncate two halves and add them.
func splitHasNone(t *testing.T) {
	a, n := recordedAtlas(t), 0
	for _, d := range devices.All() {
		if _, split := d.Core.(tcore.Split); !split {
			continue
		}
		for _, c := range a.Select(atlas.Query{Device: d.Name}) {
			if random, _, _ := c.Claimed(bound.Trace); c.Largest > 0 && random > 0 {
				t.Errorf("%s, %s, K = %d: %d probabilistic bounds", d.Name, c.Data, c.K, random)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("there is no such instruction")
	}
}

func nearestHasOne(t *testing.T) {
	a := recordedAtlas(t)
	for _, l := range a.Data() {
		for _, knows := range []bound.Knowledge{bound.Moments, bound.Trace} {
			if n, of := uncertain(a, l, "binary32, to nearest", knows); n != 0 {
				t.Errorf("%s: none in %d of %d cells, want in no cell", l, n, of)
			}
		}
	}
}

// The numbers in the text of notebook 16 are those of the atlas.
func TestAtlas_is_what_the_notebook_says(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/16-atlas.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	a := recordedAtlas(t)
	last := func(family string) (first, end float64) {
		_, rms := familyRMS(a, "U(0,1)", family)
		return rms[0], rms[len(rms)-1]
	}
	percent := func(family string) string {
		_, x := last(family)
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	ratio := func(family string) string {
		first, end := last(family)
		return times(end / first)
	}
	for _, want := range []string{
		fmt.Sprintf("a data set of %d devices", a.Count().Devices),
		fmt.Sprintf("it is %s times that at 16, and %s times with rounding to nearest", ratio("truncated, 23 to 25 bits"), ratio("binary32, to nearest")),
		fmt.Sprintf("Sums in binary16 lose %s of a result there, and those that keep 13 bits %s", percent("sums in binary16"), percent("truncated, 13 bits")),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the notebook does not say %q", want)
		}
	}
}

// The families keep their order, as the notebook says: at every K, coarse ones
// have the larger errors.
func TestAtlas_families_keep_their_order(t *testing.T) {
	a := recordedAtlas(t)
	for _, l := range []string{"N(0,1)", "U(0,1)"} {
		for i := range a.Ks() {
			before := math.Inf(1)
			for _, f := range []string{"truncated, 13 bits", "truncated, 23 to 25 bits", "binary32, to nearest", "binary64"} {
				_, rms := familyRMS(a, l, f)
				if !(rms[i] < before) {
					t.Errorf("%s, K = %d: %s has %v, the family before %v", l, a.Ks()[i], f, rms[i], before)
				}
				before = rms[i]
			}
		}
	}
}

// artificialAtlas returns an atlas of three machines in two families, two
// distributions and two K, in which all numbers differ.
func artificialAtlas() *atlas.Atlas {
	a := &atlas.Atlas{Manifest: atlas.Manifest{Version: "v", Command: "c", Seeds: []uint64{1}, M: 2, N: 2, Confidence: 0.9}}
	next := 1e-6
	number := func() float64 {
		next *= 1.0625
		return next
	}
	for _, d := range []atlas.Device{
		{Name: "volta-mma-binary16-binary32", Factors: "binary16", Family: "truncated, 23 to 25 bits"},
		{Name: "ampere-mma-binary16-binary32", Factors: "binary16", Family: "truncated, 23 to 25 bits"},
		{Name: "arm-fmopa-binary32-binary32", Factors: "binary32", Family: "binary32, to nearest"},
	} {
		d.Machine = d.Name
		a.Devices = append(a.Devices, d)
		for _, l := range []string{"N(0,1)", "U(0,1)"} {
			for _, k := range []int{16, 64} {
				c := atlas.Cell{Errors: atlas.Errors{Machine: d.Name, Data: l, K: k, Runs: 1, Outputs: 4, Tightness: number(), Largest: number(), Spread: number()}}
				for _, name := range []string{"truncation", "gamma", "vibea", "half-ulp-bernstein", "exact"} {
					b := atlas.Bound{Name: name, Deterministic: name != "vibea" && name != "half-ulp-bernstein", Verdict: sweep.Holds, Runs: 1, Outputs: 4,
						Tightness: number(), Largest: number(), Constant: number()}
					if d.Factors == "binary16" && !b.Deterministic && (name == "vibea" || l == "U(0,1)") {
						b.Verdict = sweep.NotMachine
					}
					c.Bounds = append(c.Bounds, b)
				}
				a.Cells = append(a.Cells, c)
			}
		}
	}
	return a
}

func TestAtlas_is_drawn_under_its_names(t *testing.T) {
	a := artificialAtlas()
	series := drawn.Series(t, AtlasErrors(a, "N(0,1)", "U(0,1)"))
	for i, l := range []string{"N(0,1)", "U(0,1)"} {
		// The second of the machines that truncate has the larger errors.
		for family, machine := range map[string]int{"truncated, 23 to 25 bits": 1, "binary32, to nearest": 2} {
			want := []float64{a.Cells[4*machine+2*i].Spread, a.Cells[4*machine+2*i+1].Spread}
			if got := drawn.Ys(series["Entries ~ "+l+": "+family]); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", l, family, got, want)
			}
		}
	}

	for _, c := range []struct {
		knows bound.Knowledge
		best  int // which of the bounds is the tightest, on the first and on the last machine, with entries of mean zero
		last  int
	}{{bound.Moments, 1, 2}, {bound.Trace, 3, 3}} {
		file, err := AtlasTightness(a, 64, c.knows).CSV()
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
		if len(told) != 4 {
			t.Errorf("%v, want four cells", told)
		}
		for name, want := range map[string]float64{
			"truncated, 23 to 25 bits; binary16; N(0,1)": a.Cells[1].Bounds[c.best].Tightness, // the least of two machines
			"truncated, 23 to 25 bits; binary16; U(0,1)": a.Cells[3].Bounds[1].Tightness,
			"binary32, to nearest; binary32; N(0,1)":     a.Cells[9].Bounds[c.last].Tightness,
		} {
			if told[name] != twoDigits(want) {
				t.Errorf("%v, %s: %q, want %s", c.knows, name, told[name], twoDigits(want))
			}
		}
	}

	rows := drawn.Cells(t, AtlasCertain(a))
	for i, want := range []string{"", "4 of 4", "4 of 4", "", "0 of 4", "4 of 4"} {
		if got := rows[i]["truncated, 23 to 25 bits"]; got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
		if got := rows[i]["binary32, to nearest"]; want != "" && got != "0 of 2" {
			t.Errorf("row %d: %q, want 0 of 2", i, got)
		}
	}

	e := ExploreAtlas(a)
	if got := strings.Join(e.Controls[0].Values, "; "); got != "Volta; Arm, binary32" {
		t.Errorf("devices %q", got)
	}
	series = drawn.Series(t, e.Figure(1, 1))
	for name, want := range map[string]func(c atlas.Cell) float64{
		"bound, data unknown": func(c atlas.Cell) float64 { return c.Bounds[2].Constant },
		"bound, from the run": func(c atlas.Cell) float64 { return c.Bounds[3].Constant },
		"largest error":       func(c atlas.Cell) float64 { return c.Largest },
		"root mean square":    func(c atlas.Cell) float64 { return c.Spread },
	} {
		if got := drawn.Ys(series["1: "+name]); !slices.Equal(got, []float64{want(a.Cells[10]), want(a.Cells[11])}) {
			t.Errorf("%s: %v, want %v and %v", name, got, want(a.Cells[10]), want(a.Cells[11]))
		}
	}
}

func TestAtlas_captions(t *testing.T) {
	a := recordedAtlas(t)
	figures := []viz.Figure{AtlasErrors(a, "N(0,1)", "U(0,1)"), AtlasCertain(a), AtlasRecipes(a, "N(0,1)", "U(0,1)")}
	for _, k := range a.RecipeKs() {
		figures = append(figures, AtlasShares(a, k))
	}
	for _, k := range a.Ks() {
		figures = append(figures, AtlasTightness(a, k, bound.Moments), AtlasTightness(a, k, bound.Trace))
	}
	drawn.Captions(t, figures...)
}

// The darker a cell the larger τ, from 0.001 on, and its number can be read: a
// contrast of 4.5, as the Web Content Accessibility Guidelines ask.
func TestShade(t *testing.T) {
	luminance := func(c color.Color) (sum float64) {
		r, g, b, _ := c.RGBA()
		for i, v := range []uint32{r, g, b} {
			x := float64(v) / 0xffff
			if x = x / 12.92; x > 0.04045/12.92 {
				x = math.Pow((12.92*x+0.055)/1.055, 2.4)
			}
			sum += []float64{0.2126, 0.7152, 0.0722}[i] * x
		}
		return sum
	}
	before := 1.0
	for _, τ := range []float64{1e-3, 1e-2, 0.1, 0.3, 1} {
		l := luminance(shade(τ))
		if contrast := (l + 0.05) / (luminance(viz.Ink) + 0.05); !(l < before) || contrast < 4.5 {
			t.Errorf("τ = %v: luminance %.2f after %.2f, contrast of its number %.1f", τ, l, before, contrast)
		}
		before = l
	}
	if shade(1e-3) != shade(1e-9) || luminance(shade(1e-3)) < 0.9 {
		t.Errorf("the smallest is %v, want nearly white", shade(1e-3))
	}
}
