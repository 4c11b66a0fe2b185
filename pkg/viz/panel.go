package viz

import (
	"fmt"
	"math"
	"slices"
)

// Panel is one pair of axes of a chart with its curves, which are painted in
// the order in which they are added. Adding curves to a panel with bars, or
// bars to one with curves, panics.
type Panel struct {
	title  string
	x, y   Axis
	traces []trace
	notes  []note
}

// kind is the type of a trace, as written in the CSV.
type kind string

const (
	kindEDF        kind = "edf"
	kindExceedance kind = "exceedance"
	kindLine       kind = "line"
	kindPoints     kind = "points"
	kindVertical   kind = "vertical"
	kindHorizontal kind = "horizontal"
	kindBars       kind = "bars"
	kindNote       kind = "note"
)

// trace is a series with its data in the form in which they are drawn.
type trace struct {
	Series
	kind   kind
	x, y   []float64 // steps, points, or the single number of a reference line
	before float64   // value of a step function left of x[0]
	lost   []string  // descriptions of samples that the axis cannot show
	rows   []string  // names of the rows of bars
}

// finite returns how many of the y come before the first +Inf.
func (t trace) finite() int {
	n := 0
	for n < len(t.y) && !math.IsInf(t.y[n], 1) {
		n++
	}
	return n
}

type note struct {
	x, y float64
	text string
}

// EDF draws the empirical distribution function of the samples,
//
//	F(t) = #{samplesᵢ ≤ t} / n,
//
// as a step curve from its first to its last step. At most about 1300 steps are
// drawn, among them the first and the last 64; the drawn F differs from F by at
// most 1/1200.
//
// A logarithmic axis cannot show zeros: the curve then starts at the fraction
// of samples that are zero, and the caption and the CSV state their number.
// Infinite samples are to the right of every axis and are reported in the same
// way. EDF panics if there are no samples, one is NaN or -Inf, one is negative
// on a logarithmic axis, or s is invalid (no label, a label too wide, an
// unknown style).
func (p *Panel) EDF(s Series, samples []float64) {
	t := p.sampled(kindEDF, s, samples, edfApart)
	p.add(t)
}

// Exceedance draws 1 - F, the fraction of samples greater than t, where F is
// the empirical distribution function. It makes the y axis logarithmic, which
// shows the upper tail, the part that a bound concerns. After its last step the
// curve falls to the lower end of the axis. See EDF for zeros, infinities and
// panics; Exceedance also panics if the y axis has a given range that is not
// positive.
func (p *Panel) Exceedance(s Series, samples []float64) {
	p.y.Log = true
	if p.y.fixed() {
		p.y.checked("y")
	}
	t := p.sampled(kindExceedance, s, samples, tailApart)
	t.before = 1 - t.before
	for i, f := range t.y {
		t.y[i] = 1 - f
	}
	p.add(t)
}

func (p *Panel) sampled(k kind, s Series, samples []float64, apart func(f, g float64) bool) trace {
	s = s.checked()
	d := distribution(s.Label, samples)
	low := d.x[0]
	check(!math.IsInf(low, -1), "samples of %q hold %v", s.Label, low)
	check(!p.x.Log || low >= 0, "samples of %q hold %v on a logarithmic axis, want >= 0", s.Label, low)
	shown, before := d.without(p.x.Log)
	shown = shown.thin(apart)
	t := trace{Series: s, kind: k, x: slices.Clone(shown.x), y: slices.Clone(shown.f), before: before}
	n := len(samples)
	if before > 0 {
		t.lost = append(t.lost, fmt.Sprintf("%d of %d are exactly zero", count(samples, 0), n))
	}
	if c := count(samples, math.Inf(1)); c > 0 {
		t.lost = append(t.lost, fmt.Sprintf("%d of %d are infinite", c, n))
	}
	return t
}

func count(samples []float64, v float64) int {
	c := 0
	for _, x := range samples {
		if x == v {
			c++
		}
	}
	return c
}

// Line draws the polyline through the points (x[i], y[i]), x ascending. At the
// first y[i] = +Inf, as of a bound that ceases to exist, the line ends in an
// open circle. Line panics if the lengths differ, there are no points, x is
// infinite or not ascending, y[0] is +Inf, a number is NaN or -Inf, a number on
// a logarithmic axis is not positive, or s is invalid.
func (p *Panel) Line(s Series, x, y []float64) {
	t := p.plain(kindLine, s, x, y)
	check(slices.IsSorted(x), "x of %q does not ascend", s.Label)
	check(len(t.x) > 0 && !math.IsInf(t.y[0], 1), "y of %q starts with +Inf, nothing to draw", s.Label)
	p.add(t)
}

// Points draws a dot at each point (x[i], y[i]). Points of the same name as a
// line of the panel share its label. It panics as Line does, except
// that x need not be ascending, and if any y[i] is +Inf.
func (p *Panel) Points(s Series, x, y []float64) {
	t := p.plain(kindPoints, s, x, y)
	check(!slices.Contains(y, math.Inf(1)), "y of %q holds +Inf", s.Label)
	p.add(t)
}

func (p *Panel) plain(k kind, s Series, x, y []float64) trace {
	s = s.checked()
	check(len(x) == len(y), "%q has %d x and %d y", s.Label, len(x), len(y))
	check(len(x) > 0, "%q has no points", s.Label)
	for i := range x {
		checkNumber(s.Label, "x", p.x, x[i])
		check(!math.IsInf(x[i], 0), "x of %q holds %v", s.Label, x[i])
		checkNumber(s.Label, "y", p.y, y[i])
	}
	return trace{Series: s, kind: k, x: slices.Clone(x), y: slices.Clone(y)}
}

// checkNumber panics if axis a cannot show v; it accepts +Inf.
func checkNumber(label, argument string, a Axis, v float64) {
	check(!math.IsNaN(v) && !math.IsInf(v, -1), "%s of %q holds %v", argument, label, v)
	check(!a.Log || v > 0, "%s of %q holds %v on a logarithmic axis, want > 0", argument, label, v)
}

// Vertical draws a vertical line at x, such as a bound, with its label beside
// it. If x is outside the range of the axis or +Inf, only the label is drawn,
// at that edge with an arrow. Vertical panics if x is NaN, -Inf or, on a
// logarithmic axis, not positive, or if s is invalid.
func (p *Panel) Vertical(s Series, x float64) {
	s = s.checked()
	checkNumber(s.Label, "x", p.x, x)
	p.add(trace{Series: s, kind: kindVertical, x: []float64{x}})
}

// Horizontal draws a reference line at y across the panel, such as 1 -
// confidence, with its label on it. It panics if y is NaN, infinite or, on a
// logarithmic axis, not positive, or if s is invalid.
func (p *Panel) Horizontal(s Series, y float64) {
	s = s.checked()
	checkNumber(s.Label, "y", p.y, y)
	check(!math.IsInf(y, 0), "y of %q holds %v", s.Label, y)
	p.add(trace{Series: s, kind: kindHorizontal, y: []float64{y}})
}

// Bars draws values[i] as a horizontal bar in the row named rows[i], from the
// left edge to the value, with the value at its end. A panel with bars contains
// nothing else; several series share the rows. Bars panics if the lengths
// differ, there are no rows, a row has no name, a value is negative, not finite
// or, on a logarithmic axis, zero, the rows differ from those of the first
// series, the panel contains curves, or s is invalid.
func (p *Panel) Bars(s Series, rows []string, values []float64) {
	s = s.checked()
	check(len(rows) == len(values), "%q has %d rows and %d values", s.Label, len(rows), len(values))
	check(len(rows) > 0, "%q has no rows", s.Label)
	for i, v := range values {
		check(rows[i] != "", "row %d of %q has no name", i, s.Label)
		checkNumber(s.Label, "value", p.x, v)
		check(v >= 0 && !math.IsInf(v, 0), "value of %q holds %v, want a finite v >= 0", s.Label, v)
	}
	if len(p.traces) > 0 {
		check(slices.Equal(p.traces[0].rows, rows), "rows of %q differ from those before: %v", s.Label, rows)
	}
	p.add(trace{Series: s, kind: kindBars, x: slices.Clone(values), rows: slices.Clone(rows)})
}

// Note writes a short text near (x, y), such as "13.3×", where it covers
// nothing if possible. It panics if the text is empty or the axes cannot show
// (x, y); drawing panics if the panel has no place for it.
func (p *Panel) Note(x, y float64, text string) {
	check(text != "", "text of note is empty")
	checkNumber(text, "x", p.x, x)
	checkNumber(text, "y", p.y, y)
	check(!math.IsInf(x, 0) && !math.IsInf(y, 0), "note %q at (%v, %v)", text, x, y)
	p.notes = append(p.notes, note{x, y, text})
}

func (p *Panel) add(t trace) {
	check(len(p.traces) == 0 || (p.traces[0].kind == kindBars) == (t.kind == kindBars),
		"%q: bars and curves in one panel", t.Label)
	p.traces = append(p.traces, t)
}

func (p *Panel) bars() bool { return len(p.traces) > 0 && p.traces[0].kind == kindBars }

// sharesLabel reports whether the points of trace i have the name of a curve of
// the panel, whose label is theirs too.
func (p *Panel) sharesLabel(i int) bool {
	return p.traces[i].kind == kindPoints && slices.ContainsFunc(p.traces, func(t trace) bool {
		return t.kind != kindPoints && t.Label == p.traces[i].Label
	})
}

// spanX returns the range of the data of the panel along x.
func (p *Panel) spanX() span {
	s := newSpan()
	for _, t := range p.traces {
		s.add(p.x.Log, t.x...)
	}
	if p.bars() && !p.x.Log {
		s.add(false, 0)
	}
	return s
}

// spanY returns the range of the data of the panel along y. A distribution
// function always spans [0, 1].
func (p *Panel) spanY() span {
	s := newSpan()
	for _, t := range p.traces {
		switch t.kind {
		case kindEDF:
			s.add(p.y.Log, 0, 1)
			if p.y.Log {
				s.add(true, t.y...)
			}
		case kindExceedance:
			s.add(true, 1)
			s.add(true, t.y...)
		default:
			s.add(p.y.Log, t.y...)
		}
	}
	return s
}
