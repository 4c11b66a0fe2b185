package viz

import (
	"fmt"
	"strings"
)

// Chart consists of one or more panels, one below the other, that share the x
// axis.
type Chart struct {
	title
	panels []*Panel
}

// NewChart returns a chart without panels. The finding is one sentence; the
// details are any number of sentences, or "". It panics unless name consists of
// letters, digits, - and _, the first a letter or digit, and the finding is not
// empty.
func NewChart(name, finding, details string) *Chart {
	return &Chart{title: newTitle(name, finding, details)}
}

// Panel appends a panel below the others and returns it. The title, which may
// be empty, is written above the panel at the left. All panels share the x
// range: that of the first panel with a given range, otherwise the range of all
// data. Panel panics if an axis is invalid (no label, a label too wide, a range
// that is empty, not finite or, on a logarithmic axis, not positive), the title
// is too wide, or x is logarithmic in one panel and linear in another.
func (c *Chart) Panel(title string, x, y Axis) *Panel {
	p := &Panel{title: title, x: x.checked("x"), y: y.checked("y")}
	checkWidth("panel title", title, labelSize, 480)
	if len(c.panels) > 0 {
		check(c.panels[0].x.Log == x.Log, "x axis of panel %q: Log = %v, above %v", title, x.Log, !x.Log)
	}
	c.panels = append(c.panels, p)
	return p
}

// Details returns the given details. If the axis cannot show some of the
// samples, their number follows.
func (c *Chart) Details() string {
	var lost []string
	for _, p := range c.panels {
		for _, t := range p.traces {
			for _, l := range t.lost {
				where := ""
				if p.title != "" {
					where = unmarked(p.title) + ", "
				}
				lost = append(lost, fmt.Sprintf("%s%s: %s", where, unmarked(t.Label), l))
			}
		}
	}
	if lost == nil {
		return c.details
	}
	return strings.TrimSpace(c.details + " Not on the axis: " + strings.Join(lost, "; ") + ".")
}

// SVG returns the chart, 640 px wide. It panics if the chart or one of its
// panels is empty.
func (c *Chart) SVG() ([]byte, error) { return c.draw().svg(), nil }

// PNG returns the chart, 1280 pixels wide. It panics as SVG does.
func (c *Chart) PNG() ([]byte, error) { return c.draw().png() }

func (c *Chart) checked() {
	check(len(c.panels) > 0, "chart %s has no panel", c.name)
	for i, p := range c.panels {
		check(len(p.traces) > 0, "panel %d (%q) of chart %s has nothing to draw", i, p.title, c.name)
	}
}

// axisX returns the shared x axis, with the label of the last panel and the
// first given range, and the span of all data.
func (c *Chart) axisX() (Axis, span) {
	a := c.panels[len(c.panels)-1].x
	a.Min, a.Max = 0, 0
	s := newSpan()
	for _, p := range c.panels {
		if p.x.fixed() && !a.fixed() {
			a.Min, a.Max = p.x.Min, p.x.Max
		}
		t := p.spanX()
		s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	}
	return a, s
}
