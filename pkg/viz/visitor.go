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
	plot   float64      // height of the frame in px
	beside map[int]name // [view.beside]
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

// frameWidth is about the width of the frame of a panel with a margin.
const frameWidth = 500.0

// name is where the name of a line stands: beside its end, or inside the frame
// at one end of a horizontal line.
type name struct {
	offset               []float64 // from where ECharts sets it, in px
	align, verticalAlign string    // "" for those of ECharts
	atLeft               bool      // of a horizontal line
}

// beside returns the place of the name of each trace that has one in a frame of
// height plot: names that would cover each other are moved apart. The names of
// other traces belong in a legend: of curves that do not end in the frame, and
// of all that are no lines.
func (v *view) beside(plot float64) map[int]name {
	f := v.at(frameWidth, plot)
	var ends []int
	tips := map[int]Point{}
	names := map[int]name{}
	for i, t := range v.traces {
		n := t.finite() - 1
		if t.kind == kindLine && n >= 0 && v.xs.shows(t.x[n]) && v.ys.shows(t.y[n]) && !slices.Contains(v.legend, i) {
			ends, tips[i] = append(ends, i), f.pos(t.x[n], t.y[n])
		}
	}
	slices.SortStableFunc(ends, func(i, j int) int { return cmp.Compare(tips[i].X, tips[j].X) })
	var taken []Box
	for len(ends) > 0 {
		n := 1
		for n < len(ends) && tips[ends[n]].X-tips[ends[n-1]].X < 60 {
			n++
		}
		var want, size []float64
		for _, i := range ends[:n] {
			want, size = append(want, tips[i].Y), append(size, labelGap)
		}
		apart, _ := spread(want, size, -labelGap, plot+labelGap)
		for j, y := range apart {
			i := ends[j]
			names[i] = name{offset: []float64{0, math.Round(y - want[j])}}
			taken = append(taken, Box{tips[i].X, y - labelGap/2, tips[i].X + sideGap + textWidth(v.traces[i].Label, labelSize, false), y + labelGap/2})
		}
		ends = ends[n:]
	}
	for i, t := range v.traces {
		if t.kind == kindHorizontal && v.ys.shows(t.y[0]) && !slices.Contains(v.legend, i) {
			names[i] = f.along(t, taken)
		}
	}
	f.nameVerticals(names)
	return names
}

// nameVerticals gives vertical lines their names above the frame if a legend
// could not tell them apart, and if there is room, also on a phone.
func (v *view) nameVerticals(names map[int]name) {
	var lines []int
	alike := false
	for i, t := range v.traces {
		if t.kind == kindVertical && v.beyond(t) == 0 {
			for _, j := range lines {
				alike = alike || v.traces[j].Color == t.Color && v.traces[j].Style == t.Style
			}
			lines = append(lines, i)
		}
	}
	for _, i := range lines {
		for _, j := range lines {
			gap := math.Abs(v.xs.px(v.traces[i].x[0]) - v.xs.px(v.traces[j].x[0]))
			alike = alike && (i == j || gap > textWidth(v.traces[i].Label+v.traces[j].Label, labelSize, false))
		}
	}
	for _, i := range lines {
		if alike {
			names[i] = name{offset: []float64{-8, -4}, align: "center", verticalAlign: "bottom"}
		}
	}
}

// besideRoom returns the width that the names beside the ends of lines need to
// the right of the frame.
func (v *view) besideRoom() float64 {
	room := 0.0
	f := v.at(frameWidth, v.plotHeight())
	for i := range v.beside(v.plotHeight()) {
		if t := v.traces[i]; t.kind == kindLine {
			room = max(room, f.xs.px(t.x[t.finite()-1])+sideGap+textWidth(t.Label, labelSize, false)+8-frameWidth)
		}
	}
	return room
}

// at returns the view in a frame of that size.
func (v *view) at(width, height float64) *view {
	f := *v
	f.frame = Box{0, 0, width, height}
	f.xs.from, f.xs.to, f.ys.from, f.ys.to = 0, width, height, 0
	return &f
}

// along returns the place of the name of a horizontal line: at its right or
// left end, above or below it, where the fewest curves and names are.
func (v *view) along(t trace, taken []Box) (best name) {
	w, y, least := textWidth(t.Label, labelSize, false)+10, v.ys.px(t.y[0]), math.Inf(1)
	for _, n := range []name{
		{[]float64{-10, -4}, "right", "bottom", false}, {[]float64{-10, 4}, "right", "top", false},
		{[]float64{10, -4}, "left", "bottom", true}, {[]float64{10, 4}, "left", "top", true},
	} {
		b := Box{v.frame.X1 - w, y - labelGap, v.frame.X1, y}
		if n.atLeft {
			b.X0, b.X1 = 0, w
		}
		if n.verticalAlign == "top" {
			b.Y0, b.Y1 = y, y+labelGap
		}
		cost := 0.0
		for _, o := range v.traces {
			for _, piece := range v.polyline(o) {
				if o.kind != kindHorizontal && crosses(piece, b) {
					cost++
				}
			}
		}
		for _, o := range taken {
			if o.hits(b) {
				cost++
			}
		}
		if cost < least {
			best, least = n, cost
		}
	}
	return best
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
		if n, ok := k.beside[i]; ok {
			label := map[string]any{"show": true, "formatter": "{a}", "color": hex(legible(t.Color)), "fontSize": 13, "offset": n.offset}
			if n.align != "" {
				label["align"], label["verticalAlign"] = n.align, n.verticalAlign
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
