package study

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// The tests below use artificial results in which all numbers differ. A figure
// that draws one series under another's name, or a table that swaps two
// columns, then shows wrong numbers.

func TestMachines_are_drawn_under_their_names(t *testing.T) {
	r := &HardwareResult{Hardware: DefaultHardware, Bounds: DefaultHardware.Constants()}
	r.Distribution = paper.UniformUnit
	for i, m := range r.Machines {
		x := math.Ldexp(1e-6, i)
		r.Rows = append(r.Rows, MachineRow{Machine: m, Errors: []float64{1.5 * x, x, 1.25 * x}, Mean: -x / 8, Above: []int{1, 10 + i, 20 + i, 30 + i}})
	}
	series, rows := drawn.Series(t, r.Figure()), drawn.Cells(t, r.Table())
	for i, row := range r.Rows {
		if got := drawn.Xs(series["Entries ~ U(0,1): "+row.Name]); !slices.Equal(got, slices.Sorted(slices.Values(row.Errors))) {
			t.Errorf("%s: %v, want %v", row.Name, got, row.Errors)
		}
		x := math.Ldexp(1e-6, i)
		for column, want := range map[string]string{
			"Machine": row.Name, "median error": typeset.Number(1.25*x, 4), "largest error": typeset.Number(1.5*x, 4), "mean, signed": typeset.Number(-x/8, 3),
			"above DBEA": "1", "above VIBEA": fmt.Sprint(20 + i), "above Higham & Mary 2019": fmt.Sprint(30 + i),
		} {
			if rows[i][column] != want {
				t.Errorf("%s, %s: %q, want %q", row.Name, column, rows[i][column], want)
			}
		}
	}
	for _, name := range []string{"VIBEA", "DBEA"} {
		if got, want := drawn.Xs(series["Entries ~ U(0,1): "+name]), r.Constant(name).Zeta; !slices.Equal(got, []float64{want}) {
			t.Errorf("%s at %v, want %v", name, got, want)
		}
	}
}

func TestGrowthRates_are_drawn_under_their_names(t *testing.T) {
	g := DefaultGrowthRates
	var curves []GrowthCurve
	for i, d := range g.Data {
		for j, m := range g.Machines {
			c := GrowthCurve{Machine: m, Data: d}
			for k := range g.Predicted {
				c.Predicted = append(c.Predicted, math.Ldexp(1+float64(i), -20+2*j+k))
			}
			for k := range g.Measured {
				c.Measured = append(c.Measured, math.Ldexp(1.125+float64(i), -20+2*j+k))
			}
			c.Slope = -c.Measured[0]
			curves = append(curves, c)
		}
	}
	series := drawn.Series(t, g.Figure(curves))
	for i, d := range g.Data {
		for _, c := range curves[i*len(g.Machines) : (i+1)*len(g.Machines)] { // its line, then its dots
			key := "Entries ~ " + d.Name + ": lines predicted, dots computed: " + c.Name
			if got, want := drawn.Ys(series[key]), slices.Concat(c.Predicted, c.Measured); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", d.Name, c.Name, got, want)
			}
		}
	}

	cells := drawn.Cells(t, g.ClosedForms(curves))
	if len(cells) != len(g.Data)*3 { // not of the paper's model, which rounds every sum
		t.Fatalf("%d rows", len(cells))
	}
	for i, row := range cells {
		c := curves[i/3*len(g.Machines)+1+i%3]
		last := len(g.Measured) - 1
		if row["Machine"] != c.Name || row["Entries"] != typeset.Minus(c.Data.Name) || row["error, computed"] != typeset.Number(c.Measured[last], 3) ||
			c.Data == paper.UniformSymmetric && row["slope, computed"] != typeset.Number(c.Slope, 3) {
			t.Errorf("row %d is %v, want that of %s, %s, %v", i, row, c.Name, c.Data.Name, c.Measured[last])
		}
	}
}

func TestExplored_errors_are_drawn_under_their_names(t *testing.T) {
	e := &explored{Machine: exploredMachines[1], data: exploredData[1]}
	for i := range exploredLengths {
		e.rms, e.worst = append(e.rms, math.Ldexp(1e-7, i)), append(e.worst, math.Ldexp(3e-7, i))
	}
	f := roundoff.FailureOf(0.99)
	series := drawn.Series(t, e.figure(f))
	for name, want := range map[string][]float64{"1: largest error": e.worst, "1: root mean square": e.rms} {
		if got := drawn.Ys(series[name]); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for i, K := range exploredLengths {
		p := bound.Problem{M: 16, N: 16, K: K, Machine: e.Machine.Machine}
		for _, name := range []string{"1: bound, data unknown", "1: bound, data known"} {
			results, err := bound.Evaluate(p, f)
			if err != nil {
				t.Fatal(err)
			}
			least := math.Inf(1) // the tightest, computed here
			for _, r := range results {
				if r.Holds && r.Constant < least {
					least = r.Constant
				}
			}
			if got := series[name][i]; got.X != float64(K) || got.Y != least {
				t.Errorf("%s at K = %d: %v, want %v", name, K, got, least)
			}
			p.X, p.Y = e.data, e.data
		}
	}
}

func TestTolerances_are_those_of_the_device_named(t *testing.T) {
	series := drawn.Series(t, ToleranceFigure())
	for name, device := range map[string]tcore.Device{
		"Factors in binary16, by machine: Volta": devices.VoltaF16(), "Factors in binary16, by machine: Ampere": devices.AmpereF16(),
		"Factors in binary16, by machine: Hopper": devices.HopperF16(), "Factors in binary16, by machine: FMAs in binary32": devices.IEEEF16(),
		"Real factors, by format: e4m3, Hopper": devices.HopperE4M3(), "Real factors, by format: e4m3, Blackwell": devices.BlackwellE4M3(),
		"Real factors, by format: binary16, Hopper": devices.HopperF16(), "Real factors, by format: bfloat16, Hopper": devices.HopperBF16(),
	} {
		if len(series[name]) == 0 {
			t.Errorf("nothing is drawn of %q", name)
			continue
		}
		at := series[name][len(series[name])/2]
		p := bound.Problem{M: 1024, N: 8, K: int(at.X), Machine: tcore.Machine{Device: device}, Represented: name[0] == 'R'}
		results, err := bound.Evaluate(p, roundoff.FailureOf(0.99))
		if err != nil {
			t.Fatal(err)
		}
		if best, _ := bound.Tightest(results); best.Constant != at.Y {
			t.Errorf("%s at K = %v: %v, want %v of %s", name, at.X, at.Y, best.Constant, best.Bound)
		}
	}
}

// madeUp returns an artificial sweep of one machine, one generator and two
// values of K.
func madeUp() *BoundSweep {
	var rows []sweep.Row
	add := func(k int, name string, deterministic bool, verdict sweep.Verdict, τ, largest, constant float64, violations int) {
		r := sweep.Row{Machine: "volta", Data: "U(0,1)", M: 100, N: 1, K: k, Bound: name, Deterministic: deterministic, Verdict: verdict, Confidence: 0.99, Seeds: []uint64{1}}
		r.Runs, r.Outputs, r.Violations, r.Tightness, r.Largest, r.Constant = 1, 100, violations, τ, largest, constant
		rows = append(rows, r)
	}
	for i, k := range []int{256, 4096} {
		scale := math.Ldexp(1, 4*i)
		add(k, sweep.ErrorRow, true, sweep.Holds, 1e-6*scale, 1e-6*scale, 1, 0)
		add(k, "vibea", false, sweep.NotMachine, 2, 3, 3e-7*scale, 40)
		add(k, "truncation", true, sweep.Holds, 0.25, 0.3, 4e-6*scale, 0)
		add(k, "truncation-interval", true, sweep.Holds, 0.5, 0.6, 2e-6*scale, 0)
		add(k, "truncated-random-data", false, sweep.Holds, 0.75, 0.8, 1.3e-6*scale, 0)
		add(k, "martingale-trace", false, sweep.NotData, 1.5, 1.75, 1.1e-6*scale, 7)
	}
	return &BoundSweep{Rows: rows, Origin: "Made up", stem: "made-up"}
}

func TestSweeps_are_drawn_under_their_names(t *testing.T) {
	s := madeUp()
	series := drawn.Series(t, s.Growth("U(0,1)"))
	for name, want := range map[string][]float64{
		"Volta: observed": {1e-6, 16e-6}, "Volta: truncation-interval": {2e-6, 32e-6}, "Volta: truncated-random-data": {1.3e-6, 16 * 1.3e-6},
		"Volta: VIBEA, exceeded": {3e-7, 16 * 3e-7},
	} {
		got := drawn.Ys(series[name]) // of the line, and of its points
		if len(got) != 4 || !slices.Equal(got[:2], got[2:]) || math.Abs(got[0]/want[0]-1) > 1e-12 || math.Abs(got[1]/want[1]-1) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if len(series) != 4 {
		t.Errorf("%d series, want 4: of bounds the tightest that hold", len(series))
	}

	svg, err := s.Growth("U(0,1)").SVG()
	if err != nil {
		t.Fatal(err)
	}
	// The deterministic and the probabilistic bound. Labels are darker than lines.
	for name, colour := range map[string]string{"truncation-interval": "#C25500", "truncated-random-data": "#0072B2"} {
		if !regexp.MustCompile(`fill="` + colour + `"[^>]*>` + name + `<`).Match(svg) {
			t.Errorf("%s is not drawn in %s", name, colour)
		}
	}

	best := drawn.Series(t, s.Best(256))
	for name, want := range map[string]float64{"Entries ~ U(0,1): from the distribution": 0.75, "Entries ~ U(0,1): from the sums or the trace of the run": 0.75} {
		if got := best[name]; len(got) != 1 || got[0].X != want || got[0].Text != "Volta" {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}

	cells := map[string]string{}
	for _, row := range drawn.Cells(t, s.Tightness("U(0,1)", 4096)) {
		for name := range strings.SplitSeq(row["Bounds (equal to 5 %: one row)"], "; ") {
			cells[name] = row["Volta"]
		}
	}
	for name, want := range map[string]string{
		"VIBEA": "✗ 3.0×, 40 %", "truncation": "0.25", "truncation-interval": "0.50", "truncated-random-data": "0.75", "martingale-trace": "✗ 1.8×, 7.0 %",
		"*Sums truncated*": "", "*Sums rounded to nearest, errors random*": "",
	} {
		if got, ok := cells[name]; got != want || !ok {
			t.Errorf("τ of %s: %q, want %q", name, got, want)
		}
	}
	if _, ok := cells["*Sums rounded to nearest*"]; ok {
		t.Error("a group without bounds has a heading")
	}

	broken := drawn.Cells(t, s.Broken())
	if len(broken) != 1 || broken[0]["Bounds (equal to 5 %: one row)"] != "martingale-trace" || broken[0]["U(0,1)"] != times(1.75)+"×" {
		t.Errorf("broken: %v, want martingale-trace alone, which is claimed for the machine", broken)
	}
	if got, want := s.Counted(), "none of 200 outputs exceeds a bound whose assumptions are met; bounds whose assumptions are violated are exceeded in 4 cases"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Rows[2].Violations = 1 // of a bound with the verdict Holds
	if got, want := s.Counted(), "of 200 outputs some exceed 1 bounds whose assumptions are met; bounds whose assumptions are violated are exceeded in 4 cases"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
