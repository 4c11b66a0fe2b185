package study

import (
	"fmt"
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
)

// Errors are drawn under the names of their recipes, in their panels and
// columns. The numbers are made up, and all of them differ.
func TestNetworkRuns_are_drawn_under_their_names(t *testing.T) {
	runs := &NetworkRuns{}
	for i, recipe := range []string{"int8-row", "te-mxe4m3", "of-my-own"} {
		r := networkRun{Recipe: recipe}
		for k := range 3 {
			x := float64(1+i) / 100 * float64(1+k)
			r.Products = append(r.Products, networkProduct{K: 10 + k, N: 20 + i, Activations: x / 2, Weights: x / 4, Predicted: x * 0.9, Alone: x, Inherited: x / 8, Both: 2 * x})
		}
		r.Outputs = append(r.Outputs, struct {
			Decisions int `json:"decisions"`
			Changed   int `json:"changed"`
		}{16, i})
		runs.Runs = append(runs.Runs, r)
	}
	device := runs.Runs[1]
	device.Device = "hopper-wgmma-e4m3-binary32"
	runs.Runs = append(runs.Runs, device)

	series, worst, decisions := drawn.Series(t, runs.Figure()), drawn.Cells(t, runs.Worst()), drawn.Cells(t, runs.Decisions())
	for i, name := range []string{"INT8", "MXFP8", "of-my-own"} {
		x := float64(1+i) / 100
		for k := range 3 {
			panel, own := fmt.Sprintf("Product %d, %d × 20: ", k+1, 10+k), x*float64(1+k)
			for label, want := range map[string]float64{"of its own, with exact factors": own, "in the network, with what it inherits": 2 * own} {
				if got := series[panel+label]; len(got) != 3 || math.Abs(got[i].X-want) > 1e-9 || got[i].Text != name {
					t.Errorf("%s%s, %s: %v, want %v", panel, label, name, got, want)
				}
			}
		}
		for column, want := range map[string]string{"Recipe": name, "Product, K × N": fmt.Sprintf("3: 12 × %d", 20+i), "by activations": percentOf(1.5 * x),
			"by weights": percentOf(0.75 * x), "predicted": percentOf(2.7 * x), "measured": percentOf(3 * x)} {
			if worst[i][column] != want {
				t.Errorf("%s, %s: %q, want %q", name, column, worst[i][column], want)
			}
		}
		for column, want := range map[string]string{"Computed by": name, "own error": percentOf(3 * x), "inherited": percentOf(3 * x / 8), "both": percentOf(6 * x),
			"files decided otherwise": fmt.Sprint(i)} {
			if decisions[i][column] != want {
				t.Errorf("%s, %s: %q, want %q", name, column, decisions[i][column], want)
			}
		}
	}
	if len(series) != 6 || len(worst) != 3 || len(decisions) != 4 || decisions[3]["Computed by"] != "MXFP8, Hopper" {
		t.Errorf("%d series, %v, %v", len(series), worst, decisions)
	}
}

// What the notebook says of the record: the activations of the first product
// are as good as exact, the last one inherits more than it adds, and the sums
// of Hopper change an error by less than a hundredth.
func TestRecordedNetwork(t *testing.T) {
	runs, err := RecordedNetwork()
	if err != nil {
		t.Fatal(err)
	}
	exact := map[string]networkRun{}
	for _, r := range runs.Runs {
		if recipeTitles[r.Recipe] == "" || len(r.Products) != 3 || len(r.Outputs) != 1 || r.Outputs[0].Decisions != 16 {
			t.Errorf("%+v", r)
		}
		if p := r.Products[0]; p.Activations > 1e-7 || p.Inherited != 0 || p.Alone != p.Both {
			t.Errorf("%s: the first product %+v", r.Recipe, p)
		}
		if p := r.Products[2]; p.Inherited < p.Alone {
			t.Errorf("%s: the last product %+v, want more inherited than of its own", r.Recipe, p)
		}
		if r.Device == "" {
			exact[r.Recipe] = r
		}
		for k, p := range r.Products {
			if x := exact[r.Recipe].Products[k].Both; p.Both > 1.01*x || p.Both < 0.99*x {
				t.Errorf("%s on %s: %v, with exact sums %v", r.Recipe, r.Device, p.Both, x)
			}
		}
		if r.Outputs[0].Changed > 1 {
			t.Errorf("%s: %d decisions change", r.Recipe, r.Outputs[0].Changed)
		}
	}
}
