package study

import (
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Captions begin with the finding, have at most sixty words and name nothing of
// the code, whatever the results. The captions of explorers are tested with all
// their settings, that of the drift where it is computed.
func TestCaptions(t *testing.T) {
	x, y := []float64{-0x1p12, -0.5, -0.25, -0.125}, []float64{0x1p11, 1, 1, 1}
	figures := []viz.Figure{
		CancellationTable(), SideBySideTable(), ToleranceFigure(), AdviceTable(2e-3), AdviceTable(1e-30),
		TraceTable("trace", devices.HopperF16().Trace(x, y, 0x1p23)), TraceTable("fma", devices.IEEEF16().Trace(x, y, 0x1p23)),
	}
	scales, err := ScaleTable()
	if err != nil {
		t.Fatal(err)
	}
	figures = append(figures, scales, precisionFigure([]precisionErrors{
		{"U(0,1)", []float64{1, 1}, []float64{1, 1}, []float64{0.5, 2}, []float64{1, 1}, []float64{1, 1}},
		{"N(0,1)", []float64{1, 1}, []float64{1, 1}, []float64{0.5, 0.5}, []float64{1, 1}, []float64{1, 1}},
	}, []int{128, 65536}))
	runs, err := RecordedNetwork()
	if err != nil {
		t.Fatal(err)
	}
	figures = append(figures, runs.Figure(), runs.Worst(), runs.Decisions())
	for _, read := range []func() (*BoundSweep, error){RecordedSweep, RecordedAMD, RecordedScaled} {
		s, err := read()
		if err != nil {
			t.Fatal(err)
		}
		figures = append(figures, s.Overview(), s.Broken())
		for _, k := range distinct(s, lengthOf) {
			figures = append(figures, s.Best(k), s.Moments(k))
			for _, data := range distinct(s, dataOf) {
				figures = append(figures, s.Tightness(data, k))
			}
		}
		for _, data := range distinct(s, dataOf) {
			figures = append(figures, s.Growth(data), s.FiveBounds(data))
		}
	}
	coverage, err := RecordedCoverage()
	if err != nil {
		t.Fatal(err)
	}
	plan := BreakingSweep
	plan.Machines, plan.Ks, plan.Predict = plan.Machines[:1], []int{4096}, false
	breaking, err := RunSweep("breaking", plan)
	if err != nil {
		t.Fatal(err)
	}
	figures = append(figures, coverage.Coverage(), breaking.Broken())

	for _, d := range []paper.Distribution{paper.UniformUnit, paper.UniformSymmetric} {
		h := DefaultHardware
		h.M, h.K, h.Distribution = 16, 1<<12, d
		r, err := h.Run()
		if err != nil {
			t.Fatal(err)
		}
		figures = append(figures, r.Figure(), r.Table())
	}
	g := DefaultGrowthRates
	g.Predicted, g.Measured = g.Predicted[:2], g.Measured[:2]
	curves, err := g.Run()
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, append(figures, g.Figure(curves), g.ClosedForms(curves))...)
}
