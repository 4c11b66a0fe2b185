package viz

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
)

// visitor adds the options for which go-echarts has no field.
type visitor struct {
	charts.BaseConfigurationVisitor
	view   *view
	place  place
	plot   float64         // height of the frame in px
	beside map[int]float64 // [view.beside]
}

// Visit sets the options of the whole panel.
func (k visitor) Visit(o map[string]any) {
	o["backgroundColor"] = "#FFFFFF"
	o["textStyle"] = map[string]any{"fontFamily": fontFamily}
	delete(o, "toolbox")
	delete(o, "color")
	x := k.axis(k.view.xs, []string{k.view.x.Label}, 38, 550)
	y := k.axis(k.view.ys, wrap(k.view.y.Label, titleSize, false, k.plot+20), 26, k.plot)
	x["nameGap"] = 28
	if k.place.sharedY != "" {
		delete(y, "name")
		if k.place.first {
			y["shared"] = unmarked(k.place.sharedY)
		}
	}
	if !k.place.last {
		delete(x, "name")
		x["axisLabel"] = map[string]any{"show": false}
	}
	if k.view.bars() {
		y = map[string]any{"type": "category", "inverse": true, "data": k.view.traces[0].rows,
			"axisLabel": map[string]any{"fontSize": 13, "color": hex(Ink)}, "axisTick": map[string]any{"show": false}}
	}
	o["xAxis"], o["yAxis"] = x, y
}

// axis returns the options of an axis with the range of the drawing. A
// logarithmic axis becomes a linear axis of exponents with powers of ten as
// labels: ECharts rounds the ticks of its own logarithmic axis to ten decimals
// and so loses all decades below 10⁻¹⁰, where rounding errors are. The member
// logarithmic, which ECharts ignores, tells draw.js so.
func (k visitor) axis(c scale, title []string, room, length float64) map[string]any {
	label := map[string]any{"fontSize": 12, "color": hex(SoftInk), "hideOverlap": true}
	a := map[string]any{
		"type": "value", "min": c.min, "max": c.max,
		"name": unmarked(strings.Join(title, "\n")), "nameLocation": "middle", "nameGap": 46,
		"nameTextStyle": map[string]any{"fontSize": 14, "lineHeight": 17, "color": hex(Ink)},
		"axisLabel":     label,
		"splitLine":     map[string]any{"show": true, "lineStyle": map[string]any{"color": hex(gridGrey)}},
		"axisLine":      map[string]any{"show": true, "onZero": false, "lineStyle": map[string]any{"color": hex(SoftInk)}},
	}
	if c.log {
		a["logarithmic"] = true
		every := max(1, math.Ceil((c.max-c.min)*room/length))
		a["splitNumber"] = max(1, math.Round((c.max-c.min)/every))
		label["formatter"] = "10^{value}"
		label["showMinLabel"] = math.Mod(c.min, every) == 0
		label["showMaxLabel"] = math.Mod(c.max, every) == 0
	}
	return a
}

// beside returns, for each trace whose name stands beside its end, how many px
// the name is below that end: names that would cover each other are moved
// apart. The frame has a height of plot px. The names of other traces belong in
// a legend: of curves that do not end in the frame, and of all that are no
// lines.
func (v *view) beside(plot float64) map[int]float64 {
	const width = 500.0 // of the frame, about
	type end struct {
		trace int
		x, y  float64
	}
	xs, ys := v.xs, v.ys
	xs.from, xs.to, ys.from, ys.to = 0, width, plot, 0
	names := map[int]float64{}
	var ends []end
	for i, t := range v.traces {
		switch n := t.finite() - 1; {
		case slices.Contains(v.legend, i):
		case t.kind == kindHorizontal && ys.shows(t.y[0]):
			names[i] = 0 // above or below the line, inside the frame
		case t.kind == kindLine && n >= 0 && xs.shows(t.x[n]) && ys.shows(t.y[n]):
			ends = append(ends, end{i, xs.px(t.x[n]), ys.px(t.y[n])})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.x, b.x) })
	for len(ends) > 0 {
		n := 1
		for n < len(ends) && ends[n].x-ends[n-1].x < 60 {
			n++
		}
		var want, size []float64
		for _, e := range ends[:n] {
			want, size = append(want, e.y), append(size, labelGap)
		}
		apart, _ := spread(want, size, -labelGap, plot+labelGap)
		for j, y := range apart {
			names[ends[j].trace] = y - want[j]
		}
		ends = ends[n:]
	}
	return names
}

// crowded reports whether more names of curves are just above a horizontal line
// at y, on its right half, than just below it.
func (k visitor) crowded(y float64) bool {
	balance := 0
	for i, below := range k.beside {
		t := k.view.traces[i]
		n := t.finite() - 1
		if t.kind != kindLine || k.view.xs.place(t.x[n]) < (k.view.xs.min+k.view.xs.max)/2 {
			continue
		}
		above := (k.view.ys.place(t.y[n])-k.view.ys.place(y))/(k.view.ys.max-k.view.ys.min)*k.plot - below
		switch {
		case 0 <= above && above < 2*labelGap:
			balance++
		case -2*labelGap < above && above < 0:
			balance--
		}
	}
	return balance > 0
}

// VisitSeriesOpt sets the dashes of lines as in the drawing, labels at their
// ends, and the text of notes.
func (k visitor) VisitSeriesOpt(list charts.MultiSeries) any {
	type series struct {
		charts.SingleSeries
		LineStyle any  `json:"lineStyle,omitempty"`
		EndLabel  any  `json:"endLabel,omitempty"`
		Label     any  `json:"label,omitempty"`
		Silent    bool `json:"silent,omitempty"`
	}
	var all []series
	for i, s := range list {
		e := series{SingleSeries: s}
		if i >= len(k.view.traces) {
			e.Silent = true
			e.Label = map[string]any{"show": true, "formatter": "{b}", "color": hex(SoftInk), "fontSize": 12}
			all = append(all, e)
			continue
		}
		t := k.view.traces[i]
		style := map[string]any{"color": hex(t.Color), "width": 2}
		if d := t.Style.dash(); d != nil {
			style["type"] = d
		}
		e.LineStyle = style
		if below, ok := k.beside[i]; ok {
			label := map[string]any{"show": true, "formatter": "{a}", "color": hex(legible(t.Color)), "fontSize": 13, "offset": []float64{0, math.Round(below)}}
			if t.kind == kindHorizontal {
				label["align"], label["verticalAlign"], label["offset"] = "right", "bottom", []float64{-10, -2}
				if k.crowded(t.y[0]) {
					label["verticalAlign"], label["offset"] = "top", []float64{-10, 4}
				}
			}
			e.EndLabel = label
		}
		if t.kind == kindBars {
			e.Label = map[string]any{"show": true, "position": "right", "fontSize": 12}
		}
		all = append(all, e)
	}
	return all
}
