package study

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// NetworkRuns are a trained network that was computed whole, with all its
// products as recipes and devices have them, beside the exact ones.
type NetworkRuns struct {
	Runs []networkRun `json:"runs"`
}

// A networkRun is what roundoff audit -run tells of a recipe; without a device,
// with exact sums.
type networkRun struct {
	Recipe   string           `json:"recipe"`
	Device   string           `json:"device"`
	Products []networkProduct `json:"products"`
	Outputs  []struct {
		Decisions int `json:"decisions"`
		Changed   int `json:"changed"`
	} `json:"outputs"`
}

// A networkProduct has errors relative to rms(D), as those of audit.Passed.
type networkProduct struct {
	K           int     `json:"k"`
	N           int     `json:"n"`
	Activations float64 `json:"activations"`
	Weights     float64 `json:"weights"`
	Predicted   float64 `json:"predicted"`
	Alone       float64 `json:"alone"`
	Inherited   float64 `json:"inherited"`
	Both        float64 `json:"both"`
}

// RecordedNetwork returns the runs of Magika, a network that tells what a file
// contains, on 16 files, which recorded/magika.json has. The error says that
// the record cannot be read.
func RecordedNetwork() (*NetworkRuns, error) {
	data, err := recorded.ReadFile("recorded/magika.json")
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	z := &NetworkRuns{}
	if err := json.Unmarshal(data, z); err != nil {
		return nil, fmt.Errorf("study: recorded/magika.json: %w", err)
	}
	return z, nil
}

// recipeTitles are the recipes of the record as figures name them.
var recipeTitles = map[string]string{
	"int8-row": "INT8", "torchao-e4m3-row": "FP8", "deepgemm-1x128:deepgemm-128x128": "FP8 in blocks", "te-mxe4m3": "MXFP8",
	"nvfp4-te-1x16": "NVFP4", "mxe2m1-rceil": "MXFP4",
}

// title returns the name of a run: the recipe, and the device if there is one.
func (r networkRun) title() string {
	name := recipeTitles[r.Recipe]
	if name == "" {
		name = r.Recipe
	}
	if r.Device != "" {
		chip, _, _ := strings.Cut(r.Device, "-")
		name += ", " + strings.ToUpper(chip[:1]) + chip[1:]
	}
	return name
}

// exact are the runs with exact sums.
func (n *NetworkRuns) exact() (list []networkRun) {
	for _, r := range n.Runs {
		if r.Device == "" {
			list = append(list, r)
		}
	}
	return list
}

const networkDetails = "Relative to the root mean square of the exact product. Magika 1.0.3, 16 files of this repository; "

// Figure returns the chart of the error of each product in turn, of its own and
// with what it inherits, for each recipe with exact sums.
func (n *NetworkRuns) Figure() *viz.Chart {
	far, most := 0.0, 0.0
	var rows []string
	for _, r := range n.exact() {
		rows = append(rows, r.title())
		for _, p := range r.Products {
			most = max(most, p.Alone, p.Both)
			far = max(far, math.Abs(math.Hypot(p.Alone, p.Inherited)/p.Both-1))
		}
	}
	c := viz.NewChart("network",
		fmt.Sprintf("Errors add up from layer to layer like independent ones: the root of the sum of squares of own and inherited errors is right to %s %%.", typeset.Number(100*far, 1)),
		networkDetails+"sums exact. Recorded.")
	for k, p := range n.Runs[0].Products {
		panel := c.Panel(fmt.Sprintf("Product %d, %d × %d", k+1, p.K, p.N), viz.Axis{Label: "Error / rms(D), rms", Max: 1.15 * most}, viz.Axis{Label: "Recipe"})
		var alone, both []float64
		for _, r := range n.exact() {
			alone, both = append(alone, r.Products[k].Alone), append(both, r.Products[k].Both)
		}
		panel.Bars(viz.Series{Label: "of its own, with exact factors", Color: viz.SkyBlue}, rows, alone)
		panel.Bars(viz.Series{Label: "in the network, with what it inherits", Color: viz.Black}, rows, both)
	}
	return c
}

// Worst returns the table of the product with the greatest error of its own by
// each recipe with exact sums: its parts by activations and by weights.
func (n *NetworkRuns) Worst() *viz.Table {
	far := 0.0
	var rows [][]string
	for _, r := range n.exact() {
		at := 0
		for k, p := range r.Products {
			if p.Alone > r.Products[at].Alone {
				at = k
			}
			far = max(far, math.Abs(p.Predicted/p.Alone-1))
		}
		p := r.Products[at]
		rows = append(rows, []string{r.title(), fmt.Sprintf("%d: %d × %d", at+1, p.K, p.N), percentOf(p.Activations), percentOf(p.Weights), percentOf(p.Predicted), percentOf(p.Alone)})
	}
	t := viz.NewTable("network-worst",
		fmt.Sprintf("The errors of elements predict the error of a product, for these %d recipes and %d products, to %s %%.", len(rows), len(n.Runs[0].Products), typeset.Number(100*far, 1)),
		networkDetails+"the product with the greatest error of its own, sums exact. Recorded.",
		[]string{"Recipe", "Product, K × N", "by activations", "by weights", "predicted", "measured"})
	for _, row := range rows {
		t.Row(row...)
	}
	return t
}

// Decisions returns the table of the last product of the network, by each run,
// and of how many decisions change.
func (n *NetworkRuns) Decisions() *viz.Table {
	kept, all := 0, 0
	for _, r := range n.Runs {
		all++
		if r.Outputs[0].Changed == 0 {
			kept++
		}
	}
	t := viz.NewTable("network-decisions",
		fmt.Sprintf("With %d of %d ways to compute it the network decides for each of the %d files as it does exactly.", kept, all, n.Runs[0].Outputs[0].Decisions),
		networkDetails+"the last product. On Hopper with sums as its instruction adds them, otherwise exact. Recorded.",
		[]string{"Computed by", "own error", "inherited", "both", "files decided otherwise"})
	for _, r := range n.Runs {
		p := r.Products[len(r.Products)-1]
		t.Row(r.title(), percentOf(p.Alone), percentOf(p.Inherited), percentOf(p.Both), fmt.Sprint(r.Outputs[0].Changed))
	}
	return t
}

// percentOf returns a number in percent, with two digits.
func percentOf(x float64) string { return typeset.Number(100*x, 2) + " %" }
