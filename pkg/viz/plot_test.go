package viz

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/plot"
)

// The gonum/plots of a chart have its panels, axes and series.
func TestPlots(t *testing.T) {
	for _, c := range sampleCharts() {
		x, spanX := c.axisX()
		for i, z := range c.Plots() {
			p := c.panels[i]
			lo, hi := x.scale(spanX).ends()
			if z.X.Min != lo || z.X.Max != hi || z.X.Label.Text != unmarked(x.Label) {
				t.Errorf("%s: x from %v to %v, %q", c.name, z.X.Min, z.X.Max, z.X.Label.Text)
			}
			if _, log := z.X.Scale.(plot.LogScale); log != x.Log {
				t.Errorf("%s: x logarithmic: %v", c.name, log)
			}
			if p.bars() {
				continue
			}
			if _, log := z.Y.Scale.(plot.LogScale); log != p.y.Log || z.Y.Label.Text != unmarked(p.y.Label) {
				t.Errorf("%s: y logarithmic: %v, %q", c.name, log, z.Y.Label.Text)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Plot of three panels does not panic")
		}
	}()
	sampleMAC().Plot()
}

// Our axes contain the data, and their ticks agree with gonum's: on a
// logarithmic axis there is one at every decade, on a linear one at multiples
// of a round step of similar size.
func TestAxesAgreeWithGonum(t *testing.T) {
	for _, span := range []span{{1e-8, 3e-2}, {2, 900}, {1e-3, 1e3}} {
		s := Axis{Log: true}.scale(span)
		s.from, s.to = 0, 600
		lo, hi := s.ends()
		var ours []float64
		for _, k := range s.ticks(1) {
			ours = append(ours, k.at)
		}
		decades := 0
		for _, k := range (plot.LogTicks{Prec: -1}).Ticks(lo, hi) {
			e := math.Log10(k.Value)
			if math.Abs(e-math.Round(e)) > 1e-9 || k.Value < lo || k.Value > hi {
				continue
			}
			decades++
			if !slices.ContainsFunc(ours, func(v float64) bool { return math.Abs(v/k.Value-1) < 1e-9 }) {
				t.Errorf("%v: no tick at %v among %v", span, k.Value, ours)
			}
		}
		if lo > span.lo || hi < span.hi || decades < 3 {
			t.Errorf("%v: the axis goes from %v to %v, %d decades", span, lo, hi, decades)
		}
	}
	for _, span := range []span{{0, 1}, {-3, 8}, {0, 1300}} {
		s := Axis{}.scale(span)
		s.from, s.to = 0, 600
		lo, hi := s.ends()
		var ours, theirs []float64
		for _, k := range s.ticks(100) {
			ours = append(ours, k.at)
		}
		for _, k := range (plot.DefaultTicks{}).Ticks(lo, hi) {
			if !k.IsMinor() {
				theirs = append(theirs, k.Value)
			}
		}
		a, b := ours[1]-ours[0], theirs[1]-theirs[0]
		if math.Abs(roundStep(a*(1-1e-6))/a-1) > 1e-6 || a > 5*b || b > 5*a || lo > span.lo || hi < span.hi {
			t.Errorf("%v: from %v to %v, a tick every %v, gonum's every %v", span, lo, hi, a, b)
		}
	}
}

// The labels for gonum/plot are numbers that its fonts can write. They lack the
// raised minus, without which a label would be another number.
func TestPlots_name_numbers_that_gonum_can_write(t *testing.T) {
	for _, k := range ticker(Axis{Log: true}).Ticks(1e-7, 1) {
		if k.Label == "" {
			continue
		}
		if v, err := strconv.ParseFloat(k.Label, 64); err != nil || math.Abs(v/k.Value-1) > 1e-5 {
			t.Errorf("%v is named %q", k.Value, k.Label)
		}
	}
}
