package viz

import (
	"math"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
)

// Axis describes one axis of a panel. Label is the quantity and its symbol. Log
// makes the axis logarithmic. Min and Max are the range; if both are 0, the
// range follows from the data, extended to powers of ten or to round numbers.
type Axis struct {
	Label    string
	Log      bool
	Min, Max float64
}

// fixed reports whether the range is given.
func (a Axis) fixed() bool { return a.Min != 0 || a.Max != 0 }

func (a Axis) checked(argument string) Axis {
	check(a.Label != "", "%s axis: label is empty", argument)
	checkWidth(argument+" axis label", a.Label, titleSize, 600)
	check(!math.IsNaN(a.Min) && !math.IsInf(a.Min, 0), "%s axis: Min = %v, want a finite number", argument, a.Min)
	check(!math.IsNaN(a.Max) && !math.IsInf(a.Max, 0), "%s axis: Max = %v, want a finite number", argument, a.Max)
	if a.fixed() {
		check(a.Min < a.Max, "%s axis: Min = %v and Max = %v, want Min < Max", argument, a.Min, a.Max)
		check(!a.Log || a.Min > 0, "%s axis: Min = %v on a logarithmic axis, want Min > 0", argument, a.Min)
	}
	return a
}

// span is the range of the numbers that are added to it.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

// add extends the span to v. It ignores infinities and, if log, numbers that
// are not positive.
func (s *span) add(log bool, v ...float64) {
	for _, v := range v {
		if math.IsInf(v, 0) || log && v <= 0 {
			continue
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

// scale maps the numbers of an axis to px. On a logarithmic axis min and max
// are decimal exponents.
type scale struct {
	log      bool
	min, max float64
	from, to float64 // positions of min and max in px
}

// scale returns the scale of a for data in s; its positions in px are not yet
// set.
func (a Axis) scale(s span) scale {
	if a.fixed() {
		s = span{a.Min, a.Max}
	}
	if s.lo > s.hi { // nothing to show
		s = span{1, 10}
	}
	c := scale{log: a.Log, min: s.lo, max: s.hi}
	if a.Log {
		c.min, c.max = exponent(s.lo), exponent(s.hi)
	}
	if !a.fixed() {
		c.widen()
	}
	return c
}

// exponent returns log₁₀ v, rounded to an integer if it is within 1e-9 of one.
func exponent(v float64) float64 {
	e := math.Log10(v)
	if r := math.Round(e); math.Abs(e-r) < 1e-9 {
		return r
	}
	return e
}

// widen extends the range to whole decades or to multiples of a round step.
func (c *scale) widen() {
	step := 1.0
	if !c.log {
		if c.min == c.max {
			c.min, c.max = c.min-math.Abs(c.min)/2, c.max+math.Abs(c.max)/2
			if c.min == c.max {
				c.min, c.max = -1, 1
			}
		}
		step = roundStep((c.max - c.min) / 5)
	}
	c.min, c.max = step*math.Floor(c.min/step), step*math.Ceil(c.max/step)
	if c.min == c.max {
		c.min, c.max = c.min-step, c.max+step
	}
}

// roundStep returns the least of 1, 2, 5 × 10ᵏ that is at least v.
func roundStep(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*base >= v*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// px returns the position of v; on a logarithmic axis v must be positive.
func (c scale) px(v float64) float64 {
	if c.log {
		v = exponent(v)
	}
	return c.from + (v-c.min)/(c.max-c.min)*(c.to-c.from)
}

// shows reports whether v is within the range of the axis.
func (c scale) shows(v float64) bool {
	if c.log {
		if v <= 0 {
			return false
		}
		v = exponent(v)
	}
	return c.min <= v && v <= c.max
}

// tick is one tick of an axis; a minor tick has no label.
type tick struct {
	at    float64
	label string
}

// ticks returns the ticks of an axis whose labels need room px each. A
// logarithmic axis has a tick at every decade and labels as many of them as
// fit; if fewer than one decade in 5 has a label, it omits the ticks without
// one. If fewer than two powers of ten are within the range, the ticks are at
// 1, 2 and 5 times powers of ten.
func (c scale) ticks(room float64) []tick {
	length := math.Abs(c.to - c.from)
	if !c.log {
		return c.linearTicks(max(2, math.Floor(length/room)))
	}
	first, last := math.Ceil(c.min-1e-9), math.Floor(c.max+1e-9)
	if last-first < 1 {
		return c.fractionTicks(first-1, last+1)
	}
	every := 1.0
	for _, n := range []float64{1, 2, 3, 5, 10, 20, 50, 100} {
		every = n
		if length/(c.max-c.min)*n >= room {
			break
		}
	}
	var t []tick
	for e := first; e <= last; e++ {
		label := ""
		if math.Mod(e, every) == 0 {
			label = power(int(e))
		}
		if label == "" && every > 5 {
			continue // too dense even for ticks without a label
		}
		t = append(t, tick{math.Pow(10, e), label})
	}
	return t
}

func (c scale) fractionTicks(first, last float64) []tick {
	var t []tick
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); c.shows(v) {
				t = append(t, tick{v, scientific(v)})
			}
		}
	}
	return t
}

func (c scale) linearTicks(count float64) []tick {
	step := roundStep((c.max - c.min) / count)
	var t []tick
	for k := math.Ceil(c.min/step - 1e-9); k <= c.max/step+1e-9; k++ {
		t = append(t, tick{k * step, decimal(k*step, step)})
	}
	return t
}

// decimal formats v with the digits that its step needs.
func decimal(v, step float64) string {
	if v == 0 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e5 || step < 1e-4 {
		return scientific(v)
	}
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	return typeset.Minus(strconv.FormatFloat(v, 'f', digits, 64))
}

// scientific formats v as a multiple of a power of ten with up to three digits.
func scientific(v float64) string {
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
	m = strings.TrimSuffix(strings.TrimRight(m, "0"), ".")
	k, _ := strconv.Atoi(e)
	switch {
	case k == 0:
		return typeset.Minus(m)
	case m == "1":
		return power(k)
	}
	return typeset.Minus(m) + "×" + "10" + typeset.Superscript(k)
}

// power returns 10 to the power k as text.
func power(k int) string {
	switch k {
	case 0:
		return "1"
	case 1:
		return "10"
	}
	return "10" + typeset.Superscript(k)
}
