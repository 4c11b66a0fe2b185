package study

import (
	"fmt"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/trial"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// explored contains the errors of products of each length on one machine, with
// one distribution of data: the root mean square and the largest of
// |e|/(|A||B|) over the outputs.
type explored struct {
	Machine
	data       bound.Distribution
	rms, worst []float64
}

// The products of ExploreDevices are 16 × K × 16.
const (
	exploredOutputs = 16
	exploredSeed    = 9
)

var exploredLengths = []int{1 << 4, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14}

// explore computes a product of each length and returns its errors.
func explore(m Machine, d bound.Distribution) *explored {
	e := &explored{Machine: m, data: d}
	for _, K := range exploredLengths {
		t, err := trial.Run(e.problem(K), sweep.Independent(d), exploredSeed)
		if err != nil {
			panic(err) // cannot happen: all entries are finite
		}
		errors := t.Backward()
		e.rms, e.worst = append(e.rms, sample.RMS(errors)), append(e.worst, slices.Max(errors))
	}
	return e
}

// problem returns the product with inner dimension K.
func (e *explored) problem(K int) bound.Problem {
	return bound.Problem{M: exploredOutputs, N: exploredOutputs, K: K, Machine: e.Machine.Machine}
}

// ExploreDevices returns the interactive figure of the error of a product
// against K, with the tightest valid bounds. Its controls are the device, the
// distribution of the entries, and the confidence.
func ExploreDevices() viz.Explorer {
	devices, data := viz.Control{Label: "device", List: true, Start: 3}, viz.Control{Label: "entries", List: true, Start: 1}
	var runs []func() *explored
	for _, m := range exploredMachines {
		devices.Values = append(devices.Values, m.Name)
		for _, d := range exploredData {
			runs = append(runs, sync.OnceValue(func() *explored { return explore(m, d) }))
		}
	}
	for _, d := range exploredData {
		data.Values = append(data.Values, dataNamed(d.String()))
	}
	return viz.Explorer{
		Title:    "Errors and bounds on a device",
		Controls: []viz.Control{devices, data, confidenceControl(1, 2, 8)},
		Draw: func(at []int) *viz.Chart {
			return runs[at[0]*len(exploredData)+at[1]]().figure(confidenceOf(exploredConfidences[at[2]]))
		},
	}
}

// tightest returns the tightest valid bounds: that with nothing known of the
// data, and that with their distribution known.
func (e *explored) tightest(K int, f roundoff.Failure) (unknown, known bound.Result) {
	k := e.problem(K)
	for _, best := range []*bound.Result{&unknown, &known} {
		results, err := bound.Evaluate(k, f)
		if err != nil {
			panic(err) // cannot happen: the distributions are valid
		}
		*best, _ = bound.Tightest(results)
		k.X, k.Y = e.data, e.data
	}
	return unknown, known
}

// scale returns a range for the errors and bounds of all data on the machine:
// from a part of the bound at the least K to the bound at the greatest. It is
// the same for all data and confidences, so that the axis stays where it is.
func (e *explored) scale() (lo, hi float64) {
	f := roundoff.FailureOf(paper.Confidence)
	first, _ := e.tightest(exploredLengths[0], f)
	last, _ := e.tightest(exploredLengths[len(exploredLengths)-1], f)
	return decades(first.Constant/30, last.Constant)
}

// figure returns the chart of one setting of ExploreDevices.
func (e *explored) figure(f roundoff.Failure) *viz.Chart {
	var unknown, known []float64
	var best bound.Result
	for _, K := range exploredLengths {
		var u bound.Result
		u, best = e.tightest(K, f)
		unknown, known = append(unknown, u.Constant), append(known, best.Constant)
	}
	last := len(exploredLengths) - 1
	c := viz.NewChart("explore-devices",
		fmt.Sprintf("%s with entries ~ %s the largest error at K = %d is %s |A||B|, and the tightest bound that holds, %s, is %s times as large.",
			capital(on(e.Name)), dataNamed(e.data.String()), exploredLengths[last], typeset.Number(e.worst[last], 2), boundNamed(best.Bound), times(best.Constant/e.worst[last])),
		fmt.Sprintf("Outputs of %d × K × %d, seed %d. Bounds for all of them together at %s, once with nothing known of the data and once with their distribution.",
			exploredOutputs, exploredOutputs, exploredSeed, confidenceText(f)))
	y := viz.Axis{Label: "|d̂ − d| / (|A||B|)", Log: true}
	y.Min, y.Max = e.scale()
	p := c.Panel("", viz.Axis{Label: "Inner dimension K", Log: true, Min: 10, Max: 1 << 14}, y)
	for _, s := range []struct {
		viz.Series
		y []float64
	}{
		{viz.Series{Label: "bound, data unknown", Color: paper.DBEA.Color, Style: viz.Dashed}, unknown},
		{viz.Series{Label: "bound, data known", Color: paper.VIBEA.Color, Style: viz.Dashed}, known},
		{viz.Series{Label: "largest error", Color: viz.Black}, e.worst},
		{viz.Series{Label: "root mean square", Color: viz.Purple}, e.rms},
	} {
		var x, y []float64
		for i, v := range s.y {
			if v > 0 { // an error of zero cannot be drawn on a logarithmic axis
				x, y = append(x, float64(exploredLengths[i])), append(y, v)
			}
		}
		if len(x) > 0 {
			p.Line(s.Series, x, y)
		}
	}
	return c
}
