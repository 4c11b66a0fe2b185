package atlas

import (
	"bytes"
	_ "embed"
	"fmt"
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
	Devices, Machines      int
	Products, Outputs      int // that were judged
	Skipped, Unjudged      int // outputs that were not, and cells without any that was
	Cells, Bounds, Claimed int // cells, rows of bounds, and those whose assumptions are true
	Exceeded, Violated     int // claimed rows that an output exceeds, and those that fail beyond chance
}

// Count returns what there is of the atlas. The cells of devices that compute
// the same count once.
func (a *Atlas) Count() (n Count) {
	n.Devices, n.Machines, n.Cells = len(a.Devices), len(a.Machines()), len(a.Cells)
	for _, c := range a.Cells {
		n.Products += c.Runs
		n.Outputs += c.Outputs
		n.Skipped += c.Skipped
		if c.Outputs == 0 {
			n.Unjudged++
		}
		n.Bounds += len(c.Bounds)
		for _, b := range c.Bounds {
			if b.Verdict == sweep.Holds {
				n.Claimed++
				if b.Violations > 0 {
					n.Exceeded++
				}
			}
		}
		n.Violated += len(sweep.Violated(c.Rows(a.Manifest), sweep.Sure))
	}
	return n
}

// dataSheet returns the data sheet: what the data are of, how they came about
// and what they are for (Gebru et al. 2021), with its numbers.
func (a *Atlas) dataSheet(files []File) []byte {
	why := distinct(a.Cells, func(c Cell) string { return c.Why })
	var ks []string
	for _, k := range a.Ks() {
		ks = append(ks, fmt.Sprint(k))
	}
	var reasons []string
	for _, w := range why {
		if w != "" {
			reasons = append(reasons, w)
		}
	}
	var b bytes.Buffer
	err := sheet.Execute(&b, map[string]any{
		"Atlas": a, "Count": a.Count(), "Seeds": sweep.FormatSeeds(a.Seeds), "Ks": strings.Join(ks, ", "),
		"Data": a.Data(), "Why": reasons, "Tables": files[:2],
	})
	if err != nil {
		panic(err) // cannot happen: a test executes it
	}
	return b.Bytes()
}
