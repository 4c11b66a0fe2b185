package atlas

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

//go:embed datasheet.md.tmpl
var sheetText string

var sheet = template.Must(template.New("data sheet").Funcs(template.FuncMap{
	"cell": func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }, // of a table
	"list": func(words []string) string { return "`" + strings.Join(words, "`, `") + "`" },
}).Parse(sheetText))

// A Count is what there is of an atlas.
type Count struct {
	Devices, Machines int
	Products, Outputs int // that were judged
	Skipped, Unjudged int // outputs that were not, and cells without any that was
	Cells, Bounds     int // without recipes: cells and rows of bounds

	Recipes, RecipeCells, RecipeBounds int // recipes, and their cells and rows of bounds

	Claimed            int // rows of bounds whose assumptions are true
	Exceeded, Violated int // claimed rows that an output exceeds, and those that fail beyond chance
}

// Count returns what there is of the atlas. The cells of devices that compute
// the same count once.
func (a *Atlas) Count() (n Count) {
	n.Devices, n.Machines, n.Cells = len(a.Devices), len(a.Machines()), len(a.Cells)
	n.Recipes, n.RecipeCells = len(a.RecipeNames()), len(a.Recipes)
	for _, c := range a.Cells {
		n.Bounds += len(c.Bounds)
		n.add(c.Runs, c.Outputs, c.Skipped, c.Rows(a.Manifest))
	}
	for _, c := range a.Recipes {
		n.RecipeBounds += len(c.Bounds)
		n.add(c.Runs, c.Outputs, c.Skipped, c.Rows(a.Manifest))
	}
	return n
}

// add counts a cell: its products, outputs and rows of bounds.
func (n *Count) add(runs, outputs, skipped int, bounds []sweep.Row) {
	n.Products += runs
	n.Outputs += outputs
	n.Skipped += skipped
	if outputs == 0 {
		n.Unjudged++
	}
	for _, b := range bounds {
		if b.Verdict == sweep.Holds {
			n.Claimed++
			if b.Violations > 0 {
				n.Exceeded++
			}
		}
	}
	n.Violated += len(sweep.Violated(bounds, sweep.Sure))
}

// commas returns numbers with commas between.
func commas(list []int) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")), ", ")
}

// dataSheet returns the data sheet: what the data are of, how they came about
// and what they are for (Gebru et al. 2021), with its numbers.
func (a *Atlas) dataSheet(files []File) []byte {
	var reasons []string
	for _, w := range append(distinct(a.Cells, func(c Cell) string { return c.Why }), distinct(a.Recipes, func(c RecipeCell) string { return c.Why })...) {
		if w != "" && !slices.Contains(reasons, w) {
			reasons = append(reasons, w)
		}
	}
	var b bytes.Buffer
	err := sheet.Execute(&b, map[string]any{
		"Atlas": a, "Count": a.Count(), "Seeds": sweep.FormatSeeds(a.Seeds), "Ks": commas(a.Ks()), "RecipeKs": commas(a.RecipeKs()),
		"Data": a.Data(), "Recipes": a.RecipeNames(), "Why": reasons, "Tables": files[:len(tableNames)], "Integers": sweep.Integers.Name,
	})
	if err != nil {
		panic(err) // cannot happen: a test executes it
	}
	return b.Bytes()
}
