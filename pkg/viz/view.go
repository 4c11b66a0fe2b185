package viz

import (
	"math"
	"slices"
)

// view is a panel in a layout: its frame, its scales, its curves in px and the
// places of its labels.
type view struct {
	*Panel
	among  int // number of panels of the chart
	frame  Box
	xs, ys scale
	pieces [][][]Point // parts of each trace inside the frame
	legend []int       // traces in the legend above the panel, for lack of room beside them
	above  []int       // traces in the legend of the first panel, which stands for all panels
	placer placer
	tags   []offer
	topRow bool  // vertical lines have a row for their labels above the frame
	onTop  bool  // labels of vertical lines are above the frame
	noTop  bool  // labels of vertical lines do not fit above the frame, even in a row of their own
	margin []int // lines that reach the right edge and are labelled there
}

const (
	tickSize  = 12.0
	labelSize = 13.0
	titleSize = 14.0
	rowHeight = 19.0 // height of a row of the legend
	labelGap  = 16.0 // minimum distance of baselines
	sideGap   = 7.0  // distance of a curve and its label
)

// inLegend reports whether trace i is named in a legend, not beside its curve.
func (v *view) inLegend(i int) bool {
	return slices.Contains(v.legend, i) || slices.Contains(v.above, i)
}

// lay converts the data to px.
func (v *view) lay() {
	v.xs.from, v.xs.to = v.frame.X0, v.frame.X1
	v.ys.from, v.ys.to = v.frame.Y1, v.frame.Y0
	v.pieces, v.margin, v.tags = nil, nil, nil
	v.placer = placer{frame: v.frame.grow(1)}
	for _, t := range v.traces {
		pieces := v.polyline(t)
		v.pieces = append(v.pieces, pieces)
		hard := t.kind != kindVertical && t.kind != kindHorizontal
		var pts []Point
		for _, p := range pieces {
			if t.kind == kindPoints {
				for _, q := range p {
					v.placer.taken = append(v.placer.taken, Box{q.X, q.Y, q.X, q.Y}.grow(3))
				}
			}
			pts = append(pts, p...)
		}
		if t.kind == kindPoints {
			pts = nil
		}
		v.placer.curves = append(v.placer.curves, curve{pts, hard})
	}
}

// pos returns the position of (x, y). A number that a logarithmic axis cannot
// show is placed at its lower end.
func (v *view) pos(x, y float64) Point {
	q := Point{v.frame.X0, v.frame.Y1}
	if !v.xs.log || x > 0 {
		q.X = v.xs.px(x)
	}
	if !v.ys.log || y > 0 {
		q.Y = v.ys.px(y)
	}
	return q
}

// polyline returns the visible parts of a trace.
func (v *view) polyline(t trace) [][]Point {
	f := v.frame
	switch t.kind {
	case kindVertical:
		if math.IsInf(t.x[0], 0) || !v.xs.shows(t.x[0]) {
			return nil
		}
		x := v.xs.px(t.x[0])
		return [][]Point{{{x, f.Y1}, {x, f.Y0 - 3}}}
	case kindHorizontal:
		if !v.ys.shows(t.y[0]) {
			return nil
		}
		y := v.ys.px(t.y[0])
		return [][]Point{{{f.X0, y}, {f.X1, y}}}
	case kindEDF, kindExceedance:
		return clip(v.stairs(t), f)
	case kindPoints:
		var in []Point
		for i := range t.x {
			if q := v.pos(t.x[i], t.y[i]); f.X0 <= q.X && q.X <= f.X1 && f.Y0 <= q.Y && q.Y <= f.Y1 {
				in = append(in, q)
			}
		}
		return [][]Point{in}
	case kindLine:
		var pts []Point
		for i := range t.x {
			if math.IsInf(t.y[i], 1) {
				break
			}
			pts = append(pts, v.pos(t.x[i], t.y[i]))
		}
		if len(pts) == 1 {
			pts = append(pts, pts[0])
		}
		return clip(pts, f)
	}
	return nil
}

// stairs returns the corners of a step function. Steps shorter than half a px
// are combined, and small ones are drawn as slopes, so that dashes keep their
// length. Left of the first step the curve is drawn only if its value there is
// positive.
func (v *view) stairs(t trace) []Point {
	f := v.frame
	if len(t.x) == 0 { // the axis can show no sample
		return []Point{{f.X0, v.pos(1, t.before).Y}, {f.X1, v.pos(1, t.before).Y}}
	}
	first := v.pos(t.x[0], t.before)
	pts := []Point{first}
	if t.before > 0 {
		pts = []Point{{min(f.X0, first.X), first.Y}, first}
	}
	for i := range t.x {
		q, last := v.pos(t.x[i], t.y[i]), pts[len(pts)-1]
		if i > 0 && i < len(t.x)-1 && math.Abs(q.X-last.X)+math.Abs(q.Y-last.Y) < 0.5 {
			continue
		}
		if q.X-last.X >= 1 || math.Abs(q.Y-last.Y) >= 1 {
			pts = append(pts, Point{q.X, last.Y})
		}
		pts = append(pts, q)
	}
	return pts
}

// ended returns the point where a line ends because its next value is +Inf.
func (v *view) ended(t trace) (Point, bool) {
	for i := range t.x {
		if t.kind == kindLine && i > 0 && math.IsInf(t.y[i], 1) {
			q := v.pos(t.x[i-1], t.y[i-1])
			return q, v.frame.grow(0.01).holds(Box{q.X, q.Y, q.X, q.Y})
		}
	}
	return Point{}, false
}

// reachesRight reports whether a line reaches the right edge of the axis, so
// that the margin can contain its label. It uses the scales only, which are
// known before the frame.
func (v *view) reachesRight(t trace) bool {
	n := len(t.x) - 1
	return t.kind == kindLine && !math.IsInf(t.y[n], 1) && v.ys.shows(t.y[n]) &&
		v.xs.shows(t.x[n]) && v.exponentX(t.x[n]) >= v.xs.max-0.02*(v.xs.max-v.xs.min)
}

func (v *view) exponentX(x float64) float64 {
	if v.xs.log {
		return exponent(x)
	}
	return x
}
