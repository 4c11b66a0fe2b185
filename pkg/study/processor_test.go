package study

import (
	"errors"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/drawn"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// smallProcessor is the experiment at a size that takes no time.
func smallProcessor(d paper.Distribution) Processor {
	p := DefaultProcessor
	p.M, p.N, p.K, p.Distribution = 16, 8, 256, d
	return p
}

// What this processor computes has the bits of the emulation, and its errors
// stay below the bounds that hold there. Without the instructions the emulation
// is what is shown, and the captions say so.
func TestProcessor_agrees_with_emulation_and_bounds(t *testing.T) {
	for _, d := range []paper.Distribution{paper.UniformSymmetric, paper.UniformUnit} {
		r, err := smallProcessor(d).Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Missing == nil && row.Equal != len(row.Errors) {
				t.Errorf("%s, %s: %d of %d outputs have the bits of the emulation", d.Name, row.Device.Name, row.Equal, len(row.Errors))
			}
			if !row.Always.Holds || !row.Probable.Holds || row.Probable.Constant > row.Always.Constant {
				t.Errorf("%s: bounds %v and %v", row.Device.Name, row.Always, row.Probable)
			}
			if n := row.Violations(row.Always.Constant) + row.Violations(row.Probable.Constant); n > 0 {
				t.Errorf("%s, %s: %d outputs exceed a bound", d.Name, row.Device.Name, n)
			}
		}
		drawn.Captions(t, r.Figure())
		drawn.Captions(t, r.Table())
		for i := range r.Rows {
			r.Rows[i].Missing = errors.New("switched off")
		}
		if r.Live() {
			t.Error("live without any instruction")
		}
		drawn.Captions(t, r.Figure())
		if got := viz.Caption(r.Figure()); !strings.Contains(got, "Emulated: this processor has no TDPBF16PS and VDPBF16PS.") {
			t.Errorf("without instructions: %s", got)
		}
	}
	drawn.Captions(t, ProcessorRates(64))
}

// A multiply-add on this processor, or emulated, is rounded once: it has the
// bits of an FMA and stays below its bound.
func TestProcessorMAC_is_an_FMA(t *testing.T) {
	const n = 1000
	table, err := ProcessorMAC(n)
	if err != nil {
		t.Fatal(err)
	}
	drawn.Captions(t, table)
	rows, err := processorMAC(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.fused != n || r.emulated != n {
			t.Errorf("%s: %d as an FMA, %d as emulated, want %d", r.device.Name, r.fused, r.emulated, n)
		}
		if u := tcore.Binary32.UnitRoundoff(); !(r.largest > 0.9*u && r.largest <= u) {
			t.Errorf("%s: largest error %g u, want 0.9 to 1", r.device.Name, r.largest/u)
		}
	}
}
