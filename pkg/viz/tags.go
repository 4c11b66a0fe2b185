package viz

import (
	"image/color"
	"math"
	"slices"
)

// label places the labels of the panel and returns the indices of the traces
// for which there is no place.
func (v *view) label() (left []int) {
	v.labelTop()
	v.labelNotes()
	for i, t := range v.traces {
		if !v.inLegend(i) && v.reachesRight(t) {
			v.margin = append(v.margin, i)
		}
	}
	if !v.labelMargin() {
		return v.margin
	}
	for _, k := range [][]kind{{kindVertical}, {kindHorizontal}, {kindEDF, kindExceedance, kindLine, kindPoints}} {
		for i, t := range v.traces {
			if v.inLegend(i) || !slices.Contains(k, t.kind) || v.sharesLabel(i) || slices.Contains(v.margin, i) || t.kind == kindVertical && v.onTop {
				continue
			}
			o, ok := v.placer.place(i, v.offers(i, t))
			if !ok {
				o, ok = v.placeAbove(i, t)
			}
			if !ok {
				left = append(left, i)
				continue
			}
			v.tags = append(v.tags, o)
		}
	}
	return left
}

// labelNotes places the notes, clear of the curves if possible. It panics if a
// note has no place.
func (v *view) labelNotes() {
	for _, n := range v.notes {
		offers := v.noteOffers(n)
		o, ok := v.placer.place(-1, offers)
		if !ok {
			soft := v.placer
			soft.curves = nil
			o, ok = soft.place(-1, offers)
			o.opaque = true
			v.placer.taken = soft.taken
		}
		check(ok, "note %q has no place in its panel", n.text)
		v.tags = append(v.tags, o)
	}
}

// labelMargin places the labels of the lines that reach the right edge, one
// below the other beside it. It reports whether there is room.
func (v *view) labelMargin() bool {
	var want, size []float64
	for _, i := range v.margin {
		t := v.traces[i]
		want = append(want, v.pos(t.x[len(t.x)-1], t.y[len(t.y)-1]).Y)
		size = append(size, labelGap)
	}
	ys, ok := spread(want, size, v.frame.Y0-4, v.frame.Y1+4)
	if !ok {
		return false
	}
	moved := false
	for k := range ys {
		moved = moved || math.Abs(ys[k]-want[k]) > 3
	}
	for k, i := range v.margin {
		x := v.frame.X1 + sideGap
		o := offer{words: v.tag(v.traces[i])}
		if moved {
			o.leader = []Point{{v.frame.X1 + 3, want[k]}, {x + 7, ys[k]}}
			x += 10
		}
		o.words.at = Point{x, ys[k] + 0.36*labelSize}
		v.tags = append(v.tags, o)
	}
	return true
}

// tag returns the label of a trace, without its position.
func (v *view) tag(t trace) words {
	return words{text: v.nameOf(t), size: labelSize, color: legible(t.Color)}
}

// nameOf returns the label of a trace, with an arrow if it is a vertical line
// outside the range of the axis.
func (v *view) nameOf(t trace) string {
	switch {
	case t.kind != kindVertical || v.beyond(t) == 0:
		return t.Label
	case math.IsInf(t.x[0], 1):
		return t.Label + " = ∞ →"
	case v.beyond(t) > 0:
		return t.Label + " →"
	}
	return "← " + t.Label
}

func (v *view) offers(i int, t trace) []offer {
	switch t.kind {
	case kindVertical:
		return v.verticalOffers(t)
	case kindHorizontal:
		return v.horizontalOffers(t)
	}
	return v.curveOffers(i, t)
}

// verticalOffers returns places to the right and to the left of the line, from
// the top downward, and further away with a leader.
func (v *view) verticalOffers(t trace) []offer {
	f := v.frame
	gaps, w := []float64{sideGap, 28, 52, 84, 120}, v.tag(t)
	x := min(max(v.exactX(t.x[0]), f.X0), f.X1)
	onlyLeft, onlyRight := v.beyond(t) > 0, v.beyond(t) < 0
	var offers []offer
	for row := 0.0; f.Y0+15+row*labelGap < f.Y1; row++ {
		y := f.Y0 + 15 + row*labelGap
		for k, gap := range gaps {
			cost := row*costOfStep + 12*float64(k)
			var leader []Point
			if k > 0 {
				leader = []Point{{x, y - 0.36*labelSize}, {x + gap - 4, y - 0.36*labelSize}}
			}
			if !onlyLeft {
				w.at, w.align = Point{x + gap, y}, Start
				offers = append(offers, offer{words: w, cost: cost, leader: leader})
			}
			if k > 0 {
				leader = []Point{{x, leader[0].Y}, {x - gap + 4, leader[0].Y}}
			}
			if !onlyRight {
				w.at, w.align = Point{x - gap, y}, End
				offers = append(offers, offer{words: w, cost: cost + 0.5, leader: leader})
			}
			if onlyLeft || onlyRight {
				break
			}
		}
	}
	return offers
}

// horizontalOffers returns places above and below the line, from right to left.
func (v *view) horizontalOffers(t trace) []offer {
	f, w := v.frame, v.tag(t)
	if !v.ys.shows(t.y[0]) {
		return nil
	}
	y := v.ys.px(t.y[0])
	width := textWidth(w.text, w.size, false)
	var offers []offer
	for x := f.X1 - 4; x-width > f.X0; x -= 12 {
		cost := 0.1 * (f.X1 - x) / 4
		w.align = End
		w.at = Point{x, y - 6}
		offers = append(offers, offer{words: w, cost: cost + v.besideEnd(w)})
		w.at = Point{x, y + 15}
		offers = append(offers, offer{words: w, cost: cost + v.besideEnd(w) + 1})
	}
	return offers
}

// besideEnd returns the extra cost of a label that seems to name the open
// circle at the end of a line.
func (v *view) besideEnd(w words) float64 {
	b := w.box()
	b.X0, b.X1 = b.X0-endRoom, b.X1+endRoom
	for _, t := range v.traces {
		if q, ok := v.ended(t); ok && crosses([]Point{q}, b) {
			return costCross
		}
	}
	return 0
}

// curveOffers returns places beside, above and below the curve at points along
// it. The best place for a distribution function is at 0.62 of the height of
// the frame, for a line at its end.
func (v *view) curveOffers(i int, t trace) []offer {
	w := v.tag(t)
	var offers []offer
	stops := along(v.pieces[i], 40)
	if t.kind == kindPoints {
		stops = somePoints(slices.Concat(v.pieces[i]...), 40) // nothing is drawn between them
	}
	for k, q := range stops {
		share := float64(k) / float64(max(1, len(stops)-1))
		cost := 14 * (1 - share)
		if t.kind == kindEDF || t.kind == kindExceedance {
			h := (v.frame.Y1 - q.Y) / v.frame.height()
			cost = 14 * math.Abs(h-0.62)
		}
		add := func(a Align, x, y, cost float64) {
			w.align, w.at = a, Point{x, y}
			offers = append(offers, offer{words: w, cost: cost, tie: []Point{q, w.box().nearest(q)}})
		}
		base := q.Y + 0.36*labelSize
		for _, gap := range []float64{sideGap, 13, 20} {
			far := 0.25 * (gap - sideGap)
			add(End, q.X-gap, base, cost+far)
			add(Start, q.X+gap, base, cost+far+0.5)
			add(End, q.X-2, q.Y-gap, cost+far+1)
			add(Start, q.X+2, q.Y+gap+10, cost+far+1.5)
			add(Middle, q.X, q.Y-gap, cost+far+1)
			add(Middle, q.X, q.Y+gap+10, cost+far+1.5)
		}
	}
	return offers
}

// along returns about count equidistant points on the pieces, from their start
// to their end.
func along(pieces [][]Point, count int) []Point {
	var pts []Point
	length := 0.0
	for _, p := range pieces {
		for i := 1; i < len(p); i++ {
			length += math.Hypot(p[i].X-p[i-1].X, p[i].Y-p[i-1].Y)
		}
	}
	next, done := 0.0, 0.0
	for _, p := range pieces {
		if len(p) == 1 {
			pts = append(pts, p[0])
		}
		for i := 1; i < len(p); i++ {
			d := math.Hypot(p[i].X-p[i-1].X, p[i].Y-p[i-1].Y)
			for ; next <= done+d && d > 0; next += length / float64(count) {
				s := (next - done) / d
				pts = append(pts, Point{p[i-1].X + s*(p[i].X-p[i-1].X), p[i-1].Y + s*(p[i].Y-p[i-1].Y)})
			}
			done += d
		}
	}
	if n := len(pieces); n > 0 && len(pieces[n-1]) > 0 {
		pts = append(pts, pieces[n-1][len(pieces[n-1])-1])
	}
	return pts
}

// somePoints returns at most count of the points, at equal steps of the index,
// including the last.
func somePoints(pts []Point, count int) []Point {
	step := (len(pts) + count - 1) / count
	var some []Point
	for i := len(pts) - 1; i >= 0; i -= step {
		some = append(some, pts[i])
	}
	slices.Reverse(some)
	return some
}

// noteOffers returns places at the point itself and then on rings of growing
// size around it.
func (v *view) noteOffers(n note) []offer {
	q := v.pos(n.x, n.y)
	w := words{text: n.text, size: tickSize, color: color.Color(SoftInk), align: Middle}
	var offers []offer
	for ring := 0.0; ring < 12; ring++ {
		for turn := 0.0; turn < 16; turn++ {
			sin, cos := math.Sincos(-math.Pi/2 + turn*math.Pi/8)
			w.at = Point{q.X + 11*ring*cos, q.Y + 0.36*tickSize + 8*ring*sin}
			offers = append(offers, offer{words: w, cost: 3*ring + 0.01*turn})
			if ring == 0 {
				break
			}
		}
	}
	return offers
}
