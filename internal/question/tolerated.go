package question

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tolerance"
)

// Words returns what the tolerance is, in lines of text.
func (z Tolerated) Words() string {
	var b strings.Builder
	describe := func(who string, t *tolerance.Tolerance) {
		m, n, k := t.A.Rows, t.B.Cols, t.A.Cols
		fmt.Fprintf(&b, "%s%s, %d × %d × %d, %s\n", who, device(t), m, k, n, orders(t))
		fmt.Fprintf(&b, "tolerance: %.3g at the median, %.2g of |A||B|, by %s (%s)\n", sample.Median(t.Limits.Data), ratioOf(t), t.Bound.Bound, t.Bound.Source)
		fmt.Fprintf(&b, "holds %s for all outputs together: %s\n", confidence(t.Confidence), t.Bound.Why)
	}
	describe("", z.Tolerance)
	if z.Rounded {
		b.WriteString("A and B are rounded to the formats of the device first\n")
	}
	if z.Other != nil {
		describe("beside it ", z.Other)
	}
	if z.Emulated > 0 {
		fmt.Fprintf(&b, "emulated: nearest to %s of K\n", parts(z.Emulated))
	}
	return b.String()
}

func device(t *tolerance.Tolerance) string {
	if p := t.Implementation.Plan; p != nil {
		return fmt.Sprintf("plan %q on %s", p.Name, p.Device().Name)
	}
	return t.Implementation.Machine.Device.Name
}

func parts(n int) string {
	if n == 1 {
		return "one part"
	}
	return fmt.Sprintf("%d parts", n)
}

// orders returns what is known of the order of additions, in words.
func orders(t *tolerance.Tolerance) string {
	switch by := t.Implementation; {
	case by.Orders == tolerance.AnyOrder:
		return "any order of additions"
	case by.Orders == tolerance.OneMachine && t.Parts > 0:
		return parts(t.Parts) + " of K"
	case by.Orders == tolerance.OneMachine:
		return "one order of additions"
	case t.Parts > 0:
		most := by.MostParts
		if most == 0 {
			most = tolerance.MostParts
		}
		if by.Orders == tolerance.MixedSplits {
			return fmt.Sprintf("K in at most %d parts, in each output another number, %d being the worst", most, t.Parts)
		}
		return fmt.Sprintf("K in at most %d parts, %d being the worst", most, t.Parts)
	}
	return "K in any number of parts"
}

func confidence(f roundoff.Failure) string {
	if f == roundoff.Never {
		return "always"
	}
	return "with confidence " + f.String()
}

// confidenceJSON returns a number, 1 for always, or the text that
// [roundoff.ParseConfidence] reads where it is too near to 1 for one.
func confidenceJSON(f roundoff.Failure) any {
	if p, ok := f.Confidence(); ok || f == roundoff.Never {
		return p
	}
	return f.String()
}

// ratioOf returns the median tolerance over the median |A||B|.
func ratioOf(t *tolerance.Tolerance) float64 {
	return sample.Median(t.Limits.Data) / sample.Median(t.Sizes.Data)
}

// An outputElement is a tolerance.Element whose numbers may be missing.
type outputElement struct {
	Row    int      `json:"row"`
	Column int      `json:"column"`
	Got    *float64 `json:"got"`
	Want   *float64 `json:"want"`
	Error  *float64 `json:"error"`
	Limit  *float64 `json:"limit"`
	Excess *float64 `json:"excess"`
}

// MarshalJSON writes the keys device, bound, source, why, confidence, orders,
// parts, median and text, and where there are outputs also outputs, beyond,
// largest, worst, causes and emulated.
func (z Tolerated) MarshalJSON() ([]byte, error) {
	type answer struct {
		Device     string            `json:"device"`
		Bound      string            `json:"bound"`
		Source     string            `json:"source"`
		Why        string            `json:"why"`
		Confidence any               `json:"confidence"`
		Orders     string            `json:"orders"`
		Parts      int               `json:"parts"`
		Median     *float64          `json:"median"`
		Relative   *float64          `json:"relative"` // to |A||B|
		Text       string            `json:"text"`
		Outputs    int               `json:"outputs"`
		Beyond     int               `json:"beyond"`
		Largest    *float64          `json:"largest"`
		Worst      []outputElement   `json:"worst"`
		Causes     []tolerance.Cause `json:"causes"`
		Emulated   int               `json:"emulated"`
	}
	a := answer{Device: device(z.Tolerance), Bound: z.Bound.Bound, Source: z.Bound.Source, Why: z.Bound.Why,
		Confidence: confidenceJSON(z.Confidence), Orders: orders(z.Tolerance), Parts: z.Parts, Median: Known(sample.Median(z.Limits.Data)),
		Relative: Known(ratioOf(z.Tolerance)), Text: z.Words(), Worst: []outputElement{}, Causes: []tolerance.Cause{}, Emulated: z.Emulated}
	if r := z.Report; r != nil {
		a.Text += r.String()
		a.Outputs, a.Beyond, a.Largest = r.Outputs, r.Beyond, Known(r.Largest)
		for _, e := range r.Worst {
			a.Worst = append(a.Worst, outputElement{e.Row, e.Column, Known(e.Got), Known(e.Want), Known(e.Error), Known(e.Limit), Known(e.Excess())})
		}
		a.Causes = append(a.Causes, r.Causes...)
	}
	return json.Marshal(a)
}
