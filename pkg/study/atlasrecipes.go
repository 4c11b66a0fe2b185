package study

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// A recipeLine is a recipe on a machine, as AtlasRecipes draws it.
type recipeLine struct {
	machine, recipe string
	viz.Series
}

// recipeLines are recipes of 8 bits on sums that keep 13 bits, on these every
// 128 products, and on integers.
var recipeLines = []recipeLine{
	{"hopper-wgmma-e4m3-binary32", "torchao-e4m3-row", viz.Series{Label: "e4m3 by rows, Hopper", Color: viz.Vermilion}},
	{"hopper-wgmma-e4m3-binary32", "deepgemm-1x128:deepgemm-128x128", viz.Series{Label: "e4m3 every 128, Hopper", Color: viz.Blue}},
	{sweep.Integers.Name, "int8-row", viz.Series{Label: "int8 by rows", Color: viz.Green}},
}

// recipeParts returns the root mean squares of both parts of the error of a
// recipe on a machine, for each K at which a part is not 0.
func recipeParts(a *atlas.Atlas, machine, recipe, data string) (parts [2]struct{ ks, rms []float64 }) {
	for _, c := range a.SelectRecipes(atlas.Query{Device: machine, Recipe: recipe, Data: data}) {
		for i, p := range []atlas.Part{c.Quantised, c.Accumulated} {
			if rms := p.RMS(); rms > 0 {
				parts[i].ks, parts[i].rms = append(parts[i].ks, float64(c.K)), append(parts[i].rms, rms)
			}
		}
	}
	return parts
}

// AtlasRecipes returns the chart of what quantisation and sums contribute to
// the error against K, with a panel for each distribution and two lines for
// each of a few recipes. It panics if the atlas has not all of these.
func AtlasRecipes(a *atlas.Atlas, data ...string) *viz.Chart {
	last := data[len(data)-1]
	ratio := func(l recipeLine) (k float64, of string) {
		p := recipeParts(a, l.machine, l.recipe, last)
		end := len(p[1].rms) - 1
		return p[1].ks[end], times(p[1].rms[end] / p[0].rms[end])
	}
	k, rows := ratio(recipeLines[0])
	_, blocks := ratio(recipeLines[1])
	ks := a.RecipeKs()
	c := viz.NewChart("atlas-recipes",
		fmt.Sprintf("With entries from %s and K = %.0f, sums on Hopper lose %s times as much as quantisation to e4m3 by rows does, and %s times as much if they leave it every 128 products.",
			dataNamed(last), k, rows, blocks),
		"Recipes torchao-e4m3-row, DeepGEMM and int8-row; solid: what sums contribute, D̂ − ÂB̂; dashed: what quantisation does, ÂB̂ − AB. "+atlasConditions(a))
	for _, l := range data {
		p := c.Panel("Entries ~ "+dataNamed(l), viz.Axis{Label: "Inner dimension K", Log: true, Min: 100, Max: float64(ks[len(ks)-1])},
			viz.Axis{Label: "RMS / (|A||B|)", Log: true})
		for _, line := range recipeLines {
			parts := recipeParts(a, line.machine, line.recipe, l)
			p.Line(line.Series, parts[1].ks, parts[1].rms)
			dashed := line.Series
			dashed.Label, dashed.Style = line.Label+", quantised", viz.Dashed
			p.Line(dashed, parts[0].ks, parts[0].rms)
		}
	}
	return c
}

// largestShare returns the largest share of sums in the mean square of the
// error of a recipe, over the machines that take it; ok is false if nothing was
// judged.
func largestShare(a *atlas.Atlas, recipe, data string, k int) (share float64, ok bool) {
	for _, c := range a.SelectRecipes(atlas.Query{Recipe: recipe, Data: data, K: k}) {
		if c.Outputs > 0 {
			ok = true
			if x := c.Share(); x > share { // not NaN, where nothing errs
				share = x
			}
		}
	}
	return share, ok
}

// recipeHeading returns the name of a recipe as a row of AtlasShares has it:
// for two of one library, both blocks.
func recipeHeading(name string) string {
	left, right, two := strings.Cut(name, ":")
	library, _, _ := strings.Cut(left, "-")
	if two {
		return left + ", " + strings.TrimPrefix(right, library+"-")
	}
	return name
}

// tellShare is the least share that the map tells.
const tellShare = 1e-3

// AtlasShares returns the map of the share that sums have in the mean square of
// the error at one K: a row for each recipe, on the machine where it is
// largest, a column for each distribution, the darker the larger. Recipes for
// which it is below a thousandth for all distributions have no row.
func AtlasShares(a *atlas.Atlas, k int) *viz.Schematic {
	const left, top, w, h = 290.0, 48.0, 58.0, 20.0
	var rows, data []string
	for _, l := range a.Data() {
		if len(a.SelectRecipes(atlas.Query{Data: l})) > 0 {
			data = append(data, l)
		}
	}
	all, cells, most := a.RecipeNames(), 0, 0
	for _, r := range all {
		greatest := 0.0
		for _, l := range data {
			if x, ok := largestShare(a, r, l, k); ok {
				greatest = max(greatest, x)
				cells++
				if x > 0.5 {
					most++
				}
			}
		}
		if greatest >= tellShare {
			rows = append(rows, r)
		}
	}
	s := viz.NewSchematic("atlas-shares",
		fmt.Sprintf("At K = %d sums make more than half of the mean square error for %d of %d recipes and distributions, and never a thousandth for %d of %d recipes.",
			k, most, cells, len(all)-len(rows), len(all)),
		"The share of sums in the mean squares of both parts, on the machine where it is largest, without those. "+atlasConditions(a),
		left+w*float64(len(data))+4, top+h*float64(len(rows))+4)
	headings := make([]string, len(rows))
	for i, r := range rows {
		headings[i] = recipeHeading(r)
	}
	atlasMap(s, left, top, w, h, headings, rows, data, func(i, j int) (float64, string, bool) {
		x, ok := largestShare(a, rows[i], data[j], k)
		return x, shareOf(x), ok
	})
	return s
}

// shareOf returns a share in percent, unless it is next to none or to all.
func shareOf(x float64) string {
	switch {
	case x < tellShare:
		return "< 0.1 %"
	case x > 0.99:
		return "> 99 %"
	}
	return percentOf(x)
}
