package viz

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// ECharts returns the option objects of Apache ECharts 5 that draw the chart,
// one for each panel from the top. They have the colours, dashes and ranges of
// the drawing, names at the ends of lines, a legend of what has none there,
// tooltips and zoom along x. They contain no functions and no numbers that JSON
// cannot represent. [Script] returns what a page needs to draw them. ECharts
// panics if the chart or one of its panels is empty.
//
// The object is read from go-echarts as data, since its rendered snippet would
// alter a label that contains a character reference.
func (c *Chart) ECharts() ([]json.RawMessage, error) {
	c.checked()
	var list []json.RawMessage
	views := c.views()
	right := 24.0
	for _, v := range views {
		right = max(right, v.marginWidth(), v.besideRoom())
	}
	for i, v := range views {
		p := place{first: i == 0, last: i == len(views)-1, right: right}
		if len(views) > 1 {
			p.sharedY = c.sharedYTitle()
		}
		b, err := json.Marshal(v.option(p).JSON())
		if err != nil {
			return nil, fmt.Errorf("viz: echarts option of panel %d of %s: %w", i, c.name, err)
		}
		list = append(list, b)
	}
	return list, nil
}

// place is where a panel is in its chart.
type place struct {
	first, last bool
	right       float64 // margin in px beside the frames of all panels
	sharedY     string  // y title of all panels of several; "" if each has its own
}

// option returns the options of one panel. The last panel of a chart also has
// the title of the x axis and a slider for the zoom.
func (v *view) option(p place) *charts.Line {
	l := charts.NewLine()
	beside := v.beside(v.plotHeight())
	var names []string // in the legend
	for i, t := range v.traces {
		data := v.seriesData(t)
		if n, ok := beside[i]; !ok && !v.sharesLabel(i) {
			names = append(names, unmarked(v.nameOf(t)))
		} else if n.atLeft {
			slices.Reverse(data) // ECharts sets the name at the last point
		}
		l.AddSeries(unmarked(v.nameOf(t)), data, v.seriesStyle(t))
	}
	if len(v.notes) > 0 {
		l.AddSeries("notes", v.noteData(), charts.WithSeriesOpts(func(s *charts.SingleSeries) {
			s.Type, s.SymbolSize, s.Symbol = "scatter", 1, "none"
		}))
	}
	head, top := 0.0, 0.0
	if v.title != "" {
		head = textWidth(v.title, 14, true) + 24
		if legendRows(names, head) > 2 { // below the title, where it is wider
			head, top = 0, titleRow
		}
	}
	above := 0.0
	for i := range beside {
		if v.traces[i].kind == kindVertical {
			above = rowHeight
		}
	}
	g := v.grid(names, head, top+above, p)
	l.SetGlobalOptions(
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(len(names) > 0), Data: names, Left: num(gridLeft + head), Right: "12", Top: num(top), ItemWidth: 28, ItemHeight: v.swatch(), TextStyle: v.font(13)}),
		charts.WithTitleOpts(opts.Title{Title: unmarked(v.title), Left: num(gridLeft - 8), Top: "0", TitleStyle: v.font(14)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: v.trigger()}),
		charts.WithGridOpts(g),
	)
	l.SetGlobalOptions(v.zoom(p.last)...)
	l.Animation = opts.Bool(false)
	l.Accept(visitor{view: v, place: p, plot: v.plotHeight(), beside: beside})
	return l
}

const gridLeft = 84.0

// plotHeight returns the approximate height of the frame of the panel.
func (v *view) plotHeight() float64 {
	if v.bars() {
		return 300
	}
	return (height(v.among)-70)/float64(v.among) - 45
}

func (v *view) font(size int) *opts.TextStyle {
	return &opts.TextStyle{FontSize: size, Color: hex(Ink)}
}

// swatch returns the height of the samples in the legend, which is small if all
// series named there are lines.
func (v *view) swatch() int {
	for i, t := range v.traces {
		if t.kind == kindPoints && !v.sharesLabel(i) || t.kind == kindBars {
			return 14
		}
	}
	return 2
}

func (v *view) trigger() string {
	if v.bars() {
		return "item"
	}
	return "axis"
}

// legendRows returns how many rows the names of a legend need beside a title of
// width head.
func legendRows(names []string, head float64) float64 {
	rows, x := 1.0, 0.0
	for _, n := range names {
		w := textWidth(n, 13, false) + 28 + 20
		if x > 0 && x+w > chartWidth-gridLeft-head-12 {
			rows, x = rows+1, 0
		}
		x += w
	}
	return rows
}

// grid returns the margins of the frame, with as many rows above it as the
// names of the legend need beside the title of width head, and a height above
// that: of a title above the legend, and of the names of vertical lines.
func (v *view) grid(names []string, head, above float64, p place) opts.Grid {
	rows := legendRows(names, head)
	if len(names) == 0 && head == 0 {
		rows = 0.25 // for the label of the highest tick
	}
	g := opts.Grid{Left: num(gridLeft), Right: num(p.right), Top: num(10 + 21*rows + above), Bottom: "14"}
	if v.bars() {
		g.Left = num(v.tickWidth() + 40)
	}
	if p.last {
		g.Bottom = "84"
	}
	return g
}

func (v *view) zoom(last bool) []charts.GlobalOpts {
	if v.bars() {
		return nil
	}
	z := []charts.GlobalOpts{charts.WithDataZoomOpts(opts.DataZoom{Type: "inside", FilterMode: "none"})}
	if last {
		z = append(z, charts.WithDataZoomOpts(opts.DataZoom{Type: "slider", FilterMode: "none"}))
	}
	return z
}

func (v *view) seriesStyle(t trace) charts.SeriesOpts {
	return charts.WithSeriesOpts(func(s *charts.SingleSeries) {
		s.Color, s.Symbol, s.ShowSymbol = hex(t.Color), "none", opts.Bool(t.kind == kindLine && t.finite() < len(t.y))
		s.LineStyle = &opts.LineStyle{Color: hex(t.Color), Width: 2, Type: [...]string{"solid", "dashed", "dotted"}[t.Style]}
		switch t.kind {
		case kindEDF, kindExceedance:
			s.Step = "end"
		case kindPoints:
			s.Type, s.Symbol, s.SymbolSize = "scatter", "circle", 6
		case kindBars:
			s.Type = "bar"
		}
	})
}

// seriesData returns the points of a trace that the axes can show.
func (v *view) seriesData(t trace) []opts.LineData {
	var data []opts.LineData
	put := func(x, y float64) { data = append(data, opts.LineData{Value: []float64{x, y}}) }
	add := func(x, y float64) { put(v.xs.place(x), v.ys.place(y)) }
	switch t.kind {
	case kindVertical:
		if v.beyond(t) == 0 {
			put(v.xs.place(t.x[0]), v.ys.min)
			put(v.xs.place(t.x[0]), v.ys.max)
		}
	case kindHorizontal:
		put(v.xs.min, v.ys.place(t.y[0]))
		put(v.xs.max, v.ys.place(t.y[0]))
	case kindBars:
		for _, x := range t.x {
			data = append(data, opts.LineData{Value: x})
		}
	case kindEDF, kindExceedance:
		if len(t.x) == 0 || t.before > 0 && v.xs.min < v.xs.place(t.x[0]) {
			put(v.xs.min, v.ys.place(t.before))
		} else { // the first riser, which is all that a constant consists of
			put(v.xs.place(t.x[0]), v.ys.place(t.before))
		}
		for i := range t.x {
			add(t.x[i], t.y[i])
		}
		if len(t.x) == 0 {
			put(v.xs.max, v.ys.place(t.before))
		}
	default:
		n := t.finite()
		for i := range n {
			add(t.x[i], t.y[i])
		}
		if 0 < n && n < len(t.y) { // as in the drawing, an open circle where a bound ceases to exist
			data[n-1].Symbol, data[n-1].SymbolSize = "emptyCircle", 8
		}
	}
	return data
}

func (v *view) noteData() []opts.LineData {
	var data []opts.LineData
	for _, n := range v.notes {
		data = append(data, opts.LineData{Name: unmarked(n.text), Value: []float64{v.xs.place(n.x), v.ys.place(n.y)}})
	}
	return data
}

// place returns the number that an axis of ECharts receives for v: v itself, or
// its decimal exponent. A number that a logarithmic axis cannot show is placed
// at its lower end.
func (c scale) place(v float64) float64 {
	switch {
	case !c.log:
		return v
	case v <= 0:
		return c.min
	}
	return exponent(v)
}
