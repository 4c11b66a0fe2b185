package study

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// advised are the devices of AdviceTable, one for each format and method of
// addition.
var advised = []tcore.Device{
	devices.VoltaF16(), devices.AmpereF16(), devices.AmpereBF16(), devices.AmpereTF32(), devices.AmpereF64(),
	devices.HopperF16(), devices.HopperF16F16(), devices.HopperTF32(), devices.HopperE4M3(),
	devices.BlackwellF16(), devices.BlackwellE4M3(), devices.CDNA2F16(), devices.CDNA2F32(), devices.CDNA3F16(),
}

// AdviceTable returns a table of devices for the paper's product of matrices of
// real numbers: which devices guarantee the tolerance on |D̂ - D| / |A||B|, by
// which bound, up to which K, and at which cost relative to the cheapest. It
// panics unless tolerance > 0.
func AdviceTable(tolerance float64) *viz.Table {
	g := paper.DefaultGEMM
	k := bound.Problem{M: g.M, N: g.N, K: g.K, Represented: true}
	advice, err := bound.Advise(k, tolerance, roundoff.FailureOf(paper.Confidence), advised)
	if err != nil {
		panic(err) // cannot happen: only a description of data can be invalid, and there is none
	}
	meet := 0
	for _, a := range advice {
		if a.Meets() {
			meet++
		}
	}
	t := viz.NewTable("advice",
		fmt.Sprintf("Of %d devices %d guarantee an error of at most %s |A||B|.", len(advice), meet, typeset.Number(tolerance, 2)),
		fmt.Sprintf("Product %d × %d × %d of real numbers, rounded to the factors' format, %s over all outputs, data unknown. Bytes of A, B and D, and time at the published dense peak, as multiples of the cheapest that meets it. K above %d is not tried.",
			g.M, g.K, g.N, typeset.Percent(paper.Confidence), bound.LongestK),
		[]string{"Device", "Tightest bound", "guaranteed / tolerated", "met for K", "bytes, relative", "time, relative"})
	for _, a := range advice {
		time := "unknown"
		if a.Peak.Tflops > 0 && meet > 0 {
			time = twoDigits(a.TimeRatio)
		}
		bytes := "–"
		if meet > 0 {
			bytes = twoDigits(a.BytesRatio)
		}
		t.Row(adviceTitle(a.Device), boundNamed(a.Tightest.Bound), twoDigits(a.Excess), from(a.LeastK, a.LargestK), bytes, time)
	}
	return t
}

// adviceTitle returns the chip and the format of the factors of a device.
func adviceTitle(d tcore.Device) string {
	title := machineTitle(tcore.Machine{Device: d})
	if d.A == tcore.Binary16 {
		title = strings.Replace(title, d.Architecture, d.Architecture+", "+d.A.Name, 1)
	}
	return title
}

// from returns the interval of K that meets a tolerance, as text.
func from(least, largest int) string {
	switch {
	case largest == 0:
		return "none"
	case largest == bound.LongestK:
		return fmt.Sprintf("from %d on", least)
	}
	return fmt.Sprintf("%d to %d", least, largest)
}
