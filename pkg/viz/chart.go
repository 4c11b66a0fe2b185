package viz

import (
	"fmt"
	"strings"
)

// Chart is one or more panels, one below the other, that share the x axis.
type Chart struct {
	title
	panels []*Panel
}

// NewChart returns a chart with no panel. The finding is a sentence, the
// details are as many as it takes, or "". It panics unless name can be the stem
// of a file and there is a finding.
func NewChart(name, finding, details string) *Chart {
	return &Chart{title: newTitle(name, finding, details)}
}

// Panel appends a panel below the others and returns it. The title, which may
// be empty, stands above the panel at its left. The x range is shared: it is
// that of the first panel that gives one, else what all panels need. Panel
// panics when an axis is not fit to be drawn or x is logarithmic in one panel
// and not in another.
func (c *Chart) Panel(title string, x, y Axis) *Panel {
	p := &Panel{title: title, x: x.checked("x"), y: y.checked("y")}
	checkWidth("panel title", title, labelSize, 480)
	if len(c.panels) > 0 {
		check(c.panels[0].x.Log == x.Log, "x axis of panel %q: Log = %v, above %v", title, x.Log, !x.Log)
	}
	c.panels = append(c.panels, p)
	return p
}

// Details returns what was given, and after it, where samples could not be
// drawn on a logarithmic axis, how many.
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

// SVG draws the chart, 640 px wide.
func (c *Chart) SVG() ([]byte, error) { return c.draw().svg(), nil }

// PNG draws the chart 1280 pixels wide.
func (c *Chart) PNG() ([]byte, error) { return c.draw().png() }

func (c *Chart) checked() {
	check(len(c.panels) > 0, "chart %s has no panel", c.name)
	for i, p := range c.panels {
		check(len(p.traces) > 0, "panel %d (%q) of chart %s has nothing to draw", i, p.title, c.name)
	}
}

// axisX returns the shared x axis: the last label, the first given range.
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
