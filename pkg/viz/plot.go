package viz

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot returns the chart as a gonum/plot, for further use with gonum's own
// tools. It has the same data and the same axes, and a legend instead of
// labels. It panics unless the chart has exactly one panel, which is not empty;
// [Chart.Plots] returns several.
func (c *Chart) Plot() *plot.Plot {
	check(len(c.panels) == 1, "Plot: chart %s has %d panels, want one; Plots returns all", c.name, len(c.panels))
	return c.Plots()[0]
}

// Plots returns the panels of the chart as gonum/plots, from the top. It panics
// if the chart or one of its panels is empty.
func (c *Chart) Plots() []*plot.Plot {
	c.checked()
	x, spanX := c.axisX()
	plots := make([]*plot.Plot, len(c.panels))
	for i, p := range c.panels {
		z := plot.New()
		z.Title.Text = unmarked(p.title)
		z.Legend.Top, z.Legend.Left = true, true
		likeOurs(&z.X, x, x.scale(spanX))
		if p.bars() {
			z.X.Label.Text = unmarked(x.Label)
			p.plotBars(z)
		} else {
			likeOurs(&z.Y, p.y, p.y.scale(p.spanY()))
			p.plotCurves(z)
		}
		plots[i] = z
	}
	return plots
}

// likeOurs sets an axis of gonum's to the label, the range, the ticks and the
// scale of a.
func likeOurs(z *plot.Axis, a Axis, s scale) {
	z.Label.Text = unmarked(a.Label)
	z.Min, z.Max = s.ends()
	z.Tick.Marker = ticker(a)
	if a.Log {
		z.Scale = plot.LogScale{}
	}
}

// ticker places the ticks of gonum's axes where this package places its own.
type ticker Axis

// Ticks returns the ticks between lo and hi, with a label where a plot of the
// usual size has room for one.
func (t ticker) Ticks(lo, hi float64) []plot.Tick {
	s := Axis{Log: t.Log, Min: lo, Max: hi}.scale(newSpan())
	s.from, s.to = 0, plotLength
	var z []plot.Tick
	for _, k := range s.ticks(tickRoom) {
		if k.label != "" { // gonum's fonts have no raised minus
			k.label = strconv.FormatFloat(k.at, 'g', 6, 64)
		}
		z = append(z, plot.Tick{Value: k.at, Label: k.label})
	}
	return z
}

// The length of an axis and the width of a tick label, in px.
const plotLength, tickRoom = 400.0, 55.0

// ends returns the numbers at both ends of an axis.
func (c scale) ends() (lo, hi float64) {
	if c.log {
		return math.Pow(10, c.min), math.Pow(10, c.max)
	}
	return c.min, c.max
}

func (p *Panel) plotCurves(z *plot.Plot) {
	for i, t := range p.traces {
		style := t.Style.line(t.Color)
		switch t.kind {
		case kindVertical, kindHorizontal:
			ends := plotter.XYs{{X: z.X.Min, Y: 0}, {X: z.X.Max, Y: 0}}
			if t.kind == kindVertical {
				if math.IsInf(t.x[0], 0) {
					continue // beyond any axis
				}
				ends = plotter.XYs{{X: t.x[0], Y: z.Y.Min}, {X: t.x[0], Y: z.Y.Max}}
			} else {
				ends[0].Y, ends[1].Y = t.y[0], t.y[0]
			}
			l := &plotter.Line{XYs: ends, LineStyle: style}
			z.Add(l)
			z.Legend.Add(unmarked(t.Label), l)
		case kindPoints:
			s := &plotter.Scatter{XYs: t.points(), GlyphStyle: draw.GlyphStyle{Color: t.Color, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}}
			z.Add(s)
			if !p.sharesLabel(i) {
				z.Legend.Add(unmarked(t.Label), s)
			}
		default:
			l := &plotter.Line{XYs: t.points(), LineStyle: style}
			if t.kind != kindLine {
				l.StepStyle = plotter.PostStep
			}
			z.Add(l)
			z.Legend.Add(unmarked(t.Label), l)
		}
	}
}

// points returns the finite points of a curve.
func (t trace) points() plotter.XYs {
	var z plotter.XYs
	for i, x := range t.x {
		if !math.IsInf(t.y[i], 0) {
			z = append(z, plotter.XY{X: x, Y: t.y[i]})
		}
	}
	return z
}

// plotBars draws the bars, all of the same height; those of one row are
// adjacent.
func (p *Panel) plotBars(z *plot.Plot) {
	const height = 12.0
	for i, t := range p.traces {
		values := make(plotter.Values, len(t.x))
		for j, v := range t.x { // gonum counts rows from the bottom
			values[len(t.x)-1-j] = v
		}
		bars := &plotter.BarChart{Values: values, Width: vg.Points(height), Color: t.Color, Horizontal: true,
			Offset: vg.Points(height * (float64(len(p.traces)-1)/2 - float64(i)))}
		z.Add(bars)
		z.Legend.Add(unmarked(t.Label), bars)
	}
	names := make([]string, len(p.traces[0].rows))
	for j, name := range p.traces[0].rows {
		names[len(names)-1-j] = unmarked(name)
	}
	z.NominalY(names...)
}

// line returns the style as gonum's line style.
func (s Style) line(c color.Color) draw.LineStyle {
	z := draw.LineStyle{Color: c, Width: vg.Points(1.5)}
	for _, d := range s.dash() {
		z.Dashes = append(z.Dashes, vg.Points(d*0.75)) // our lengths are in px
	}
	return z
}
