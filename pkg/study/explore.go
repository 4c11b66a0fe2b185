package study

import (
	"math"
	"slices"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// The values of the controls of notebook 9.
var (
	exploredFormats     = []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.Binary32, tcore.Binary64}
	exploredConfidences = []string{"0.5", "0.9", "0.99", "0.999", "0.9999", "1-1e-6", "1-1e-8", "1-1e-10", "1-1e-12", "1-1e-15"}
	exploredMachines    = append(slices.Clone(machines[:4]),
		named(tcore.Machine{Device: devices.IEEEF16()}, viz.Series{}),
		named(tcore.Machine{Device: devices.HopperE4M3()}, viz.Series{}),
		named(tcore.Machine{Device: devices.HopperF16F16()}, viz.Series{}),
	)
	exploredData = []bound.Distribution{bound.Uniform(-1, 1), bound.Uniform(0, 1), bound.Normal(0, 1), bound.Uniform(1, 2)}
)

// formatControl returns a list of formats, with start selected.
func formatControl(start tcore.Format) viz.Control {
	c := viz.Control{Label: "format", List: true}
	for i, f := range exploredFormats {
		c.Values = append(c.Values, f.Name)
		if f == start {
			c.Start = i
		}
	}
	return c
}

// confidenceControl returns a slider of confidences, which starts at 99 %.
// Static pages contain the figures for the indices kept.
func confidenceControl(kept ...int) viz.Control {
	c := viz.Control{Label: "confidence", Start: 2, Kept: kept}
	for _, s := range exploredConfidences {
		c.Values = append(c.Values, confidenceText(confidenceOf(s)))
	}
	return c
}

func confidenceOf(s string) roundoff.Failure {
	f, err := roundoff.ParseConfidence(s)
	if err != nil {
		panic(err) // cannot happen: s is in exploredConfidences
	}
	return f
}

// lengthControl returns a slider of n with four values per octave up to 2^20,
// which starts at 256. Static pages contain the figures for powers of 16.
func lengthControl() viz.Control {
	c := viz.Control{Label: "n", Start: 4 * 8}
	for i := range 4*20 + 1 {
		c.Values = append(c.Values, strconv.Itoa(quarterOctave(i)))
		if i%16 == 0 {
			c.Kept = append(c.Kept, i)
		}
	}
	return c
}

// quarterOctave returns 2^(i/4), rounded to the nearest integer.
func quarterOctave(i int) int { return int(math.Round(math.Exp2(float64(i) / 4))) }
