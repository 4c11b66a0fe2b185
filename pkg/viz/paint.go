package viz

import (
	"math"
	"strings"

	"github.com/roundofflab/roundoff/internal/typeset"
)

// paint draws the panel; the last panel of a chart also has the labels of the x
// axis.
func (v *view) paint(s *sheet, last bool) {
	v.paintHead(s)
	v.paintAxes(s, last)
	if v.bars() {
		v.paintBars(s)
	}
	for i, t := range v.traces {
		v.paintTrace(s, i, t)
	}
	for _, o := range v.tags {
		if o.opaque {
			s.rect(o.words.box().grow(1), 2, fill(White))
		}
		if o.leader != nil {
			s.line(stroke(o.words.color, 0.8), o.leader...)
		}
		s.write(o.words)
	}
}

// paintHead writes the panel's title and its legend.
func (v *view) paintHead(s *sheet) {
	f := v.frame
	y := f.Y0 - v.headHeight(f.width())
	if v.title != "" {
		s.write(words{text: v.title, at: Point{f.X0, y + 14}, size: labelSize, color: Ink, bold: true})
		y += titleRow
	}
	places, _ := v.legendPlaces(f.width())
	for k, i := range v.legend {
		t := v.traces[i]
		x, y := f.X0+places[k].X, y+places[k].Y+7
		v.sample(s, t, x, y)
		w := v.tag(t)
		w.at = Point{x + legendSample + 6, y + 0.36*labelSize}
		s.write(w)
	}
}

// sample draws the entry of a trace in the legend.
func (v *view) sample(s *sheet, t trace, x, y float64) {
	switch t.kind {
	case kindBars:
		s.rect(Box{x + 6, y - 6, x + legendSample, y + 6}, 0, fill(t.Color))
	case kindPoints:
		s.circle(Point{x + legendSample/2, y}, 3.2, fill(t.Color))
	default:
		s.line(v.pen(t), Point{x, y}, Point{x + legendSample, y})
	}
}

func (v *view) pen(t trace) pen {
	width := 2.0
	if t.kind == kindHorizontal {
		width = 1.5
	}
	return pen{line: t.Color, width: width, dash: t.Style.dash()}
}

// shared assigns interleaved dashes to lines that coincide, so that each is
// visible: of m such lines each one is drawn in every m-th dash.
func (v *view) shared(i int, k pen) pen {
	const dash, pitch = 6.0, 8.0
	same, rank := 0, 0
	for j, t := range v.traces {
		if t.kind != v.traces[i].kind || len(v.pieces[j]) == 0 {
			continue
		}
		p, q := v.pieces[j][0][0], v.pieces[i][0][0]
		if math.Abs(p.X-q.X)+math.Abs(p.Y-q.Y) < 2 {
			if j < i {
				rank++
			}
			same++
		}
	}
	if same > 1 {
		k.dash = []float64{dash, float64(same)*pitch - dash}
		k.phase = float64(same-rank) * pitch
	}
	return k
}

// crisp moves a coordinate to the centre of a px, where thin lines are sharp.
func crisp(v float64) float64 { return math.Floor(v) + 0.5 }

// xRoom and yRoom return the distance in px between the tick labels of an axis.
func xRoom(c scale) float64 {
	if c.log {
		return 38
	}
	return 72
}

func yRoom(c scale) float64 {
	if c.log {
		return 26
	}
	return 40
}

func (v *view) paintAxes(s *sheet, last bool) {
	f := v.frame
	grid, line := stroke(gridGrey, 1), stroke(SoftInk, 1)
	for _, t := range v.xs.ticks(xRoom(v.xs)) {
		x := crisp(v.xs.px(t.at))
		if t.label != "" {
			s.line(grid, Point{x, f.Y0}, Point{x, f.Y1})
		}
		tall := 3.0
		if t.label != "" {
			tall = 5
		}
		s.line(line, Point{x, f.Y1}, Point{x, f.Y1 + tall})
		if last && t.label != "" {
			s.write(words{text: t.label, at: Point{x, f.Y1 + 19}, size: tickSize, color: SoftInk, align: Middle})
		}
	}
	if !v.bars() {
		for _, t := range v.ys.ticks(yRoom(v.ys)) {
			if t.label == "" {
				continue
			}
			y := crisp(v.ys.px(t.at))
			s.line(grid, Point{f.X0, y}, Point{f.X1, y})
			s.write(words{text: t.label, at: Point{f.X0 - 8, y + 0.36*tickSize}, size: tickSize, color: SoftInk, align: End})
		}
	}
	s.line(line, Point{f.X0, crisp(f.Y1)}, Point{f.X1, crisp(f.Y1)})
	if last {
		s.write(words{text: v.x.Label, at: Point{(f.X0 + f.X1) / 2, f.Y1 + 41}, size: titleSize, color: Ink, align: Middle})
	}
}

func (v *view) paintTrace(s *sheet, i int, t trace) {
	for _, p := range v.pieces[i] {
		if t.kind == kindPoints {
			for _, q := range p {
				s.circle(q, 2.6, fill(t.Color))
			}
			continue
		}
		k := v.pen(t)
		if t.kind == kindVertical || t.kind == kindHorizontal {
			k = v.shared(i, k)
		}
		s.line(k, p...)
	}
	if q, ok := v.ended(t); ok {
		s.circle(q, 3.6, pen{fill: White, line: t.Color, width: 1.8})
	}
}

// paintBars draws the bars of all series row by row, with their values.
func (v *view) paintBars(s *sheet) {
	f := v.frame
	n := float64(len(v.traces))
	row := f.height() / float64(len(v.traces[0].rows))
	thick := min(0.72*row/n, 26)
	for r, name := range v.traces[0].rows {
		mid := f.Y0 + (float64(r)+0.5)*row
		s.write(words{text: name, at: Point{f.X0 - 8, mid + 0.36*labelSize}, size: labelSize, color: Ink, align: End})
		for k, t := range v.traces {
			y := mid + (float64(k)-n/2)*thick
			x := f.X0
			if !v.xs.log || t.x[r] > 0 {
				x = min(max(v.xs.px(t.x[r]), f.X0), f.X1)
			}
			s.rect(Box{f.X0, y + 1, x, y + thick - 1}, 0, fill(t.Color))
			w := words{text: significant(t.x[r]), at: Point{x + 5, y + thick/2 + 0.36*tickSize}, size: tickSize, color: SoftInk}
			s.rect(Box{x + 2, y + 1, w.box().X1 + 3, y + thick - 1}, 0, fill(White)) // clears the grid
			s.write(w)
		}
	}
}

// significant formats v with three significant digits. Numbers from 1 upwards
// lose trailing zeros, smaller ones keep them, so that they have equal digits.
func significant(v float64) string {
	a := math.Abs(v)
	if a == 0 {
		return "0"
	}
	if a < 1e-2 || a >= 1e5 {
		return typeset.Number(v, 3)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(a))))
	s := decimal(v, math.Pow(10, -float64(digits)))
	if a < 1 || digits == 0 {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
