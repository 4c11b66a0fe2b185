package study

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// LessonSweep is the plan of a sweep that takes a second or two: one
// distribution, of one sign, on a machine that rounds to nearest and on two
// that truncate, with K from 64 to 16384.
var LessonSweep = sweep.Plan{
	Machines: []tcore.Machine{sweep.Paper, sweep.Volta, sweep.Hopper},
	Data:     []sweep.Generator{sweep.Positive},
	M:        8, N: 8, Ks: []int{64, 256, 1024, 4096, 16384}, Seeds: []uint64{101}, Confidences: []float64{paper.Confidence},
}

// fiveBounds are the bounds of [BoundSweep.FiveBounds]: of rounding to nearest
// and of truncation the worst case and what the distribution of the data adds,
// and between them the paper's.
var fiveBounds = []struct {
	bound string
	color color.Color
}{
	{"gamma", paper.DBEA.Color},
	{"vibea", paper.VIBEA.Color},
	{"random-data", viz.Green},
	{"truncation", viz.Purple},
	{"truncated-random-data", viz.Generations[2]},
}

// FiveBounds returns the chart of the largest |error|/|A||B| and of five bounds
// on it against K, for one distribution, with a panel for each machine. A bound
// is dashed where its assumptions are met and dotted where they are violated;
// it is absent where it is not defined.
func (s *BoundSweep) FiveBounds(data string) *viz.Chart {
	held, exceeded := s.judgedFive(data)
	lo, hi := s.rangeOfFive(data)
	c := viz.NewChart(fmt.Sprintf("%s-five-bounds-%s", s.stem, slugOf(data)),
		fmt.Sprintf("With entries from %s, %s, and %s.", dataNamed(data), held, exceeded),
		"Dashed: the assumptions of the bound are met. Dotted: they are violated. "+s.conditions("K"))
	ks := distinct(s, lengthOf)
	for _, m := range distinct(s, machineOf) {
		p := c.Panel(machineNamed(m), viz.Axis{Label: "Inner dimension K", Log: true, Min: float64(ks[0]), Max: float64(ks[len(ks)-1])},
			viz.Axis{Label: "|error| / |A||B|", Log: true, Min: lo, Max: hi})
		s.curve(p, m, data, sweep.ErrorRow, paper.Observed, func(r sweep.Row) float64 { return r.Largest })
		for _, b := range fiveBounds {
			series := viz.Series{Label: boundNamed(b.bound), Color: b.color, Style: s.styleOf(m, data, b.bound)}
			s.curve(p, m, data, b.bound, series, func(r sweep.Row) float64 { return r.Constant })
		}
	}
	return c
}

// styleOf returns Dotted if an assumption of the bound is violated at some K,
// and otherwise Dashed.
func (s *BoundSweep) styleOf(machine, data, bound string) viz.Style {
	if slices.ContainsFunc(s.rowsOf(machine, data, bound), func(r sweep.Row) bool { return r.Verdict != sweep.Holds }) {
		return viz.Dotted
	}
	return viz.Dashed
}

// Nearest returns a sentence that names, for every machine of a distribution,
// the least of the five bounds whose assumptions are met, at the largest K, and
// how many times the largest error it is. A machine where none is defined is
// not named.
func (s *BoundSweep) Nearest(data string) string {
	k := slices.Max(distinct(s, lengthOf))
	var words []string
	for _, m := range distinct(s, machineOf) {
		name, least, observed := "", math.Inf(1), 0.0
		for _, r := range s.cell(m, data, k) {
			switch {
			case r.Bound == sweep.ErrorRow:
				observed = r.Largest
			case r.Verdict == sweep.Holds && r.Constant < least && isOfFive(r.Bound):
				name, least = boundNamed(r.Bound), r.Constant
			}
		}
		if name != "" && observed > 0 {
			words = append(words, fmt.Sprintf("%s %s (%.3g times the largest error)", name, on(m), least/observed))
		}
	}
	if len(words) == 0 {
		return fmt.Sprintf("At K = %d the assumptions of none of the five are met.", k)
	}
	return fmt.Sprintf("At K = %d the least of the five whose assumptions are met is %s.", k, typeset.List(words))
}

func isOfFive(name string) bool {
	for _, b := range fiveBounds {
		if b.bound == name {
			return true
		}
	}
	return false
}

// rangeOfFive returns a range for the largest errors of a distribution and for
// the five bounds on them.
func (s *BoundSweep) rangeOfFive(data string) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, r := range s.Rows {
		switch y := r.Constant; {
		case r.Data != data || r.PerOutput:
		case r.Bound == sweep.ErrorRow && r.Largest > 0:
			lo, hi = min(lo, r.Largest), max(hi, r.Largest)
		case isOfFive(r.Bound) && y > 0 && !math.IsInf(y, 1):
			lo, hi = min(lo, y), max(hi, y)
		}
	}
	return decades(lo, hi)
}

// judgedFive returns two clauses on the five bounds of a distribution: what the
// outputs do to those whose assumptions are met, and on which machines they
// exceed one whose assumptions are violated.
func (s *BoundSweep) judgedFive(data string) (held, exceeded string) {
	bad := 0
	var where []string
	for _, m := range distinct(s, machineOf) {
		broken := 0
		for _, b := range fiveBounds {
			for _, r := range s.rowsOf(m, data, b.bound) {
				switch {
				case r.Violations == 0:
				case r.Verdict == sweep.Holds:
					bad++
				default:
					broken++
				}
			}
		}
		if broken > 0 {
			where = append(where, on(m))
		}
	}
	held = "no output exceeds a bound whose assumptions are met"
	if bad > 0 {
		held = fmt.Sprintf("outputs exceed bounds whose assumptions are met, in %d cases", bad)
	}
	if len(where) == 0 {
		return held, "none of those whose assumptions are violated is exceeded either"
	}
	return held, "those whose assumptions are violated are exceeded " + typeset.List(where)
}

// rowsOf returns the rows of one bound on a machine, for one distribution, in
// the order of K.
func (s *BoundSweep) rowsOf(machine, data, bound string) []sweep.Row {
	return s.of(func(r sweep.Row) bool {
		return !r.PerOutput && r.Machine == machine && r.Data == data && r.Bound == bound
	})
}

// curve draws y of the rows of a bound against K, if there are two.
func (s *BoundSweep) curve(p *viz.Panel, machine, data, bound string, series viz.Series, y func(sweep.Row) float64) {
	var x, values []float64
	for _, r := range s.rowsOf(machine, data, bound) {
		if v := y(r); v > 0 && !math.IsInf(v, 1) {
			x, values = append(x, float64(r.K)), append(values, v)
		}
	}
	if len(x) > 1 {
		p.Line(series, x, values)
	}
}
