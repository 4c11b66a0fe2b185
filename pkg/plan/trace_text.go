package plan

import (
	"fmt"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// String returns the trace as a table: a line for every product that is not 0,
// with what the device keeps of it and loses; for every instruction, and for
// every addition that adds something. Then come result, error, and where the
// error comes from.
func (t Trace) String() string {
	var table, s strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "step\tvalue\texponent\tkept\tlost\t")
	t.Sum.write(w, "")
	w.Flush()
	fmt.Fprintln(&s, t.Plan)
	for line := range strings.Lines(table.String()) {
		s.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	fmt.Fprintf(&s, "result %.9g", t.Result)
	if t.Exact == nil {
		return s.String() + "\n"
	}
	fmt.Fprintf(&s, ", exact %.9g, error %.3g", t.Exact, t.Error)
	if t.Losses.Output == nil {
		return s.String() + "\n"
	}
	fmt.Fprintf(&s, "\nof the error instructions made %s, additions %s, the last rounding %s", made(t.Losses.Instructions), made(t.Losses.Additions), made(t.Losses.Output))
	if t.Losses.Tail.Sign() != 0 {
		fmt.Fprintf(&s, ", products in no part %s", made(t.Losses.Tail))
	}
	return s.String() + "\n"
}

// made returns the error that a loss is.
func made(lost *big.Float) string {
	v, _ := lost.Float64()
	return fmt.Sprintf("%.3g", 0-v)
}

// zero reports whether all products of a step are 0.
func (s *Step) zero() bool {
	if s.Run != nil {
		for _, b := range s.Run.Blocks {
			for _, m := range b.Terms {
				if m.Value != 0 {
					return false
				}
			}
		}
		return true
	}
	for _, part := range s.Parts {
		if !part.zero() {
			return false
		}
	}
	return true
}

func (s *Step) write(w *tabwriter.Writer, indent string) {
	if s.Run != nil {
		s.writeRun(w, indent)
		return
	}
	for i, part := range s.Parts {
		if part.zero() && part.Value == 0 {
			continue
		}
		fmt.Fprintf(w, "%spart %d: %s\t\t\t\t\t\n", indent, i, span(part.K))
		part.write(w, indent+"  ")
	}
	for _, a := range s.Additions {
		if a.Value == 0 && a.Before == 0 || a.First && a.Lost != nil && a.Lost.Sign() == 0 && s.Scales == nil {
			continue // nothing is added or rounded
		}
		fmt.Fprintf(w, "%s%s\t%.9g\t%d\t%.9g\t%s\t\n", indent, s.name(a), a.Value, exponent(float64(a.Value)), a.Result, lost(a.Lost))
	}
	if len(s.Tail) > 0 {
		fmt.Fprintf(w, "%slost: %s\t\t\t\t%s\t\n", indent, span(s.Tail), lost(s.losses.Tail))
	}
}

func (s *Step) name(a Addition) string {
	what := "part"
	if a.Fold > 0 {
		what = fmt.Sprintf("value %d of fold", a.Fold)
	}
	name := fmt.Sprintf("+ %s %d", what, a.Index)
	if len(s.Additions) > 0 && s.Additions[len(s.Additions)-1].Fold > 0 {
		name += fmt.Sprintf(" to %d", a.To)
	}
	if s.Scales != nil {
		name += fmt.Sprintf(" × %.9g × %.9g", s.Scales[a.Index][0], s.Scales[a.Index][1])
	}
	return name
}

func (s *Step) writeRun(w *tabwriter.Writer, indent string) {
	for i, b := range s.Run.Blocks {
		terms := 0
		for _, m := range b.Terms {
			if m.Index >= 0 && m.Value != 0 {
				terms++
			}
		}
		if terms == 0 && i > 0 && b.Result == s.Run.Blocks[i-1].Result || terms == 0 && b.Result == 0 {
			continue
		}
		for _, m := range b.Terms {
			if m.Value == 0 {
				continue
			}
			name := fmt.Sprintf("x%d y%d", m.Index, m.Index)
			if m.Index < 0 {
				name = "c"
			}
			fmt.Fprintf(w, "%s%s\t%.9g\t%d\t%.9g\t%.9g\t\n", indent, name, m.Value, m.Exponent, m.Kept, m.Lost)
		}
		fmt.Fprintf(w, "%s= from %d\t%.9g\t%d\t%.9g\t%s\t\n", indent, b.Start, b.Result, b.Exponent, b.Sum, roundedAway(b))
	}
}

// roundedAway returns what the rounding of a block loses, beside what its terms
// have lost.
func roundedAway(b tcore.TraceBlock) string {
	sum := number(0)
	for _, m := range b.Terms {
		v := number(m.Kept)
		if v == nil {
			return ""
		}
		sum.Add(sum, v)
	}
	if !finite(b.Result) {
		return ""
	}
	return lost(difference(sum, b.Result))
}

func lost(v *big.Float) string {
	if v == nil {
		return ""
	}
	f, _ := v.Float64()
	return fmt.Sprintf("%.9g", 0+f)
}

// span returns positions in a few words.
func span(k []int) string {
	switch {
	case len(k) == 0:
		return "no products"
	case len(k) == 1:
		return fmt.Sprintf("product %d", k[0])
	case consecutive(k):
		return fmt.Sprintf("products %d … %d", k[0], k[len(k)-1])
	}
	return fmt.Sprintf("%d products, %d, %d, … %d", len(k), k[0], k[1], k[len(k)-1])
}

func exponent(x float64) int {
	if x == 0 || !finite(x) {
		return 0
	}
	return int(number(x).MantExp(nil)) - 1
}
