package study

import (
	"fmt"

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
		fmt.Sprintf("%d of %d devices guarantee an error of at most %s |A||B|.", meet, len(advice), typeset.Number(tolerance, 2)),
		fmt.Sprintf("A product %d × %d × %d of real numbers that are rounded to the format of the factors first, at %s over all outputs, nothing known of the data. "+
			"Bytes of A, B and D and time at the published peak for dense products, over those of the cheapest that meets it. Drawn by study.AdviceTable.",
			g.M, g.K, g.N, typeset.Percent(paper.Confidence)),
		[]string{"Device", "bound", "of tolerance", "up to K", "bytes", "time"})
	for _, a := range advice {
		time := "unknown"
		if a.Peak.Tflops > 0 && meet > 0 {
			time = typeset.Number(a.TimeRatio, 3)
		}
		bytes := "–"
		if meet > 0 {
			bytes = typeset.Number(a.BytesRatio, 2)
		}
		t.Row(a.Device.Name, a.Tightest.Bound, typeset.Number(a.Excess, 2), fmt.Sprint(a.LargestK), bytes, time)
	}
	return t
}
