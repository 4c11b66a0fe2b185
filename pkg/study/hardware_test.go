package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

func TestHardware(t *testing.T) {
	h := DefaultHardware
	h.M, h.K, h.Distribution = 32, 1<<12, paper.UniformUnit
	r, err := h.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("truncation falls short of same-sign sums", func(t *testing.T) {
		for _, row := range r.Rows[1:] {
			if !(row.Mean < 0) {
				t.Errorf("%s: mean signed error %v", row.Name, row.Mean)
			}
		}
	})
	t.Run("later generations lose less, and splitting K helps", func(t *testing.T) {
		for i := 2; i < len(r.Rows); i++ {
			if !(r.Rows[i].Mean > r.Rows[i-1].Mean) {
				t.Errorf("%s: %v, %s: %v", r.Rows[i-1].Name, r.Rows[i-1].Mean, r.Rows[i].Name, r.Rows[i].Mean)
			}
		}
	})
	t.Run("rounding to nearest has no violation", func(t *testing.T) {
		if slices.Max(r.Rows[0].Above) != 0 {
			t.Errorf("outputs above bounds: %v", r.Rows[0].Above)
		}
	})
	t.Run("the paper's model is the experiment of Section 4.2", func(t *testing.T) {
		g, err := h.GEMM.Run()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g.Exact.Errors, r.Rows[0].Errors) {
			t.Error("errors differ")
		}
	})
}

// Numbers of the same experiment with another seed, computed independently.
func TestHardwareAtThePapersSize(t *testing.T) {
	if testing.Short() {
		t.Skip("multiplies the paper's matrices on five emulated machines")
	}
	h := DefaultHardware
	h.Distribution = paper.UniformUnit
	r, err := h.Run()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1: -6.50e-4, 2: -3.66e-4, 3: -1.93e-4} {
		if got := r.Rows[i].Mean; want != 0 && !scalar.EqualWithinRel(got, want, 0.02) {
			t.Errorf("%s: mean signed error %v, want %v to 2 %%", r.Rows[i].Name, got, want)
		}
	}
	for _, name := range []string{"Volta", "Hopper"} {
		for _, bound := range []string{"VIBEA", "Higham & Mary 2019"} {
			if v := r.Violated(name, bound); v != 1 {
				t.Errorf("%s exceeds %s on a share %v of the outputs, want all", name, bound, v)
			}
		}
		if v := r.Violated(name, "DBEA"); v != 0 {
			t.Errorf("%s exceeds DBEA on a share %v", name, v)
		}
	}
}

func TestCancellationTable(t *testing.T) {
	text := CancellationTable().Markdown()
	for _, want := range []string{"0 | ", "−0.5 | ", "−0.75 | ", "−0.875 | "} {
		if !strings.Contains(text, want) {
			t.Errorf("no row %q in\n%s", want, text)
		}
	}
}

func TestTraceTable(t *testing.T) {
	trace := devices.HopperF16().Trace([]float64{-0x1p12, -0.5, -0.25, -0.125}, []float64{0x1p11, 1, 1, 1}, 0x1p23)
	table := TraceTable("trace", trace).Markdown()
	if !strings.Contains(table, "−0.125") {
		t.Errorf("the term that is lost is not shown:\n%s", table)
	}
	if trace.Result != -0.75 {
		t.Errorf("result %v, want -0.75", trace.Result)
	}
}

// The signs of the means, and which of them can be told from zero, are counted.
func TestSigns(t *testing.T) {
	model, twice := []float64{1, -3, 5, -1}, []float64{2, 2, 2, 2}
	for others, want := range map[float64]string{-1: "all means are negative.", 0: "not all means are negative."} {
		got := signs([][]float64{model, {-1, -2}, {-3, others}}, twice)
		if !strings.HasPrefix(got, "Of the 4 means of the paper's model 2 are within two standard errors of zero, 1 below and 1 above;") || !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at its end", got, want)
		}
	}
}

// The chart of drift draws every machine at every K, and its slopes are those
// of its lines.
func TestDriftFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("sums of up to 10⁵ products on five machines")
	}
	c, err := DriftFigure()
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, c)
	series := drawn.Series(t, c)
	for _, m := range machines {
		if got := drawn.Xs(series["1: "+m.Name]); len(got) != len(driftLengths) || got[len(got)-1] != 1e5 {
			t.Errorf("%s at %v", m.Name, got)
		}
	}
	for _, name := range []string{"Volta", "Hopper"} {
		y := drawn.Ys(series["1: "+name])
		if order := fmt.Sprintf("%.2f", math.Log10(y[len(y)-1]/y[0])/3); !strings.Contains(c.Finding(), order) {
			t.Errorf("%s: the power %s is not in %q", name, order, c.Finding())
		}
	}
}
