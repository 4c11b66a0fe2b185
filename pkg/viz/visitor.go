package viz

import (
	"math"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
)

// visitor adds the options for which go-echarts has no field.
type visitor struct {
	charts.BaseConfigurationVisitor
	view *view
	last bool
	plot float64 // height of the frame in px
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
	if !k.last {
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
// and so loses all decades below 10⁻¹⁰, where rounding errors are.
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
		every := max(1, math.Ceil((c.max-c.min)*room/length))
		a["splitNumber"] = max(1, math.Round((c.max-c.min)/every))
		label["formatter"] = "10^{value}"
		label["showMinLabel"] = math.Mod(c.min, every) == 0
		label["showMaxLabel"] = math.Mod(c.max, every) == 0
	}
	return a
}

// standsAlone reports whether trace i ends at the right edge at a distance from
// all others.
func (k visitor) standsAlone(i int) bool {
	end := func(t trace) float64 {
		return k.view.ys.place(t.y[len(t.y)-1]) / (k.view.ys.max - k.view.ys.min) * k.plot
	}
	for j, t := range k.view.traces {
		if j != i && k.view.reachesRight(t) && k.view.reachesRight(k.view.traces[i]) &&
			math.Abs(end(t)-end(k.view.traces[i])) < labelGap {
			return false
		}
	}
	return k.view.reachesRight(k.view.traces[i])
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
		if k.standsAlone(i) {
			e.EndLabel = map[string]any{"show": true, "formatter": "{a}", "color": hex(legible(t.Color)), "fontSize": 13}
		}
		if t.kind == kindBars {
			e.Label = map[string]any{"show": true, "position": "right", "fontSize": 12}
		}
		all = append(all, e)
	}
	return all
}
