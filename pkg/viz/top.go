package viz

import "math"

// labelTop places the labels of the vertical lines above their upper ends, side
// by side where they are close. In a panel with a title they share its row if
// they are clear of the title and near their lines; otherwise they have a row
// of their own. If that row is too short as well, they are placed inside the
// frame.
func (v *view) labelTop() {
	var lines []int
	var want, size []float64
	f := v.frame
	for i, t := range v.traces {
		if t.kind != kindVertical {
			continue
		}
		w := v.tag(t)
		l := textWidth(w.text, w.size, false)
		x := min(max(v.exactX(t.x[0]), f.X0), f.X1)
		switch {
		case v.beyond(t) > 0:
			x -= l / 2
		case v.beyond(t) < 0:
			x += l / 2
		}
		lines, want, size = append(lines, i), append(want, x), append(size, l+14)
	}
	lo := f.X0 - 12
	if !v.topRow && v.title != "" {
		lo = f.X0 + textWidth(v.title, labelSize, true) + 10
	}
	xs, ok := spread(want, size, lo, chartWidth-2)
	for k := range xs {
		if d := math.Abs(xs[k] - want[k]); d > size[k]/2+32 {
			ok = ok && v.topRow && d < size[k]+40
		}
	}
	v.onTop = ok && !v.noTop
	if !v.onTop {
		return
	}
	for k, i := range lines {
		t := v.traces[i]
		o := offer{words: v.tag(t)}
		o.words.align, o.words.at = Middle, Point{xs[k], f.Y0 - 8}
		if half := size[k]/2 - 7; v.beyond(t) == 0 {
			foot := min(max(want[k], xs[k]-half), xs[k]+half)
			if math.Abs(foot-want[k]) > 8 {
				o.leader = []Point{{want[k], f.Y0 - 3}, {foot, f.Y0 - 7}}
			}
		}
		v.tags = append(v.tags, o)
	}
}

// beyond returns 1 if a vertical line is to the right of the axis range, -1 if
// to the left, and 0 if within it.
func (v *view) beyond(t trace) int {
	switch x := v.exponentX(t.x[0]); {
	case x > v.xs.max:
		return 1
	case x < v.xs.min:
		return -1
	}
	return 0
}

func (v *view) exactX(x float64) float64 {
	if math.IsInf(x, 1) {
		return v.frame.X1
	}
	return v.xs.px(x)
}

// placeAbove places the label of a distribution function without room beside
// its curve above the end of the curve, in the row of the panel's title.
func (v *view) placeAbove(i int, t trace) (offer, bool) {
	pieces := v.pieces[i]
	if t.kind != kindEDF || v.title == "" || len(v.legend) > 0 || len(pieces) == 0 {
		return offer{}, false
	}
	last := pieces[len(pieces)-1]
	tip := last[len(last)-1]
	if tip.Y > v.frame.Y0+1 { // the curve does not end at the top
		return offer{}, false
	}
	head := placer{frame: Box{v.frame.X0, v.frame.Y0 - titleRow, chartWidth - 2, v.frame.Y0}}
	title := words{text: v.title, at: Point{v.frame.X0, v.frame.Y0 - 8}, size: labelSize, bold: true}
	head.taken = append(head.taken, title.box().grow(6))
	for _, o := range v.tags {
		head.taken = append(head.taken, o.words.box())
	}
	w := v.tag(t)
	w.align = Middle
	var offers []offer
	for d := 0.0; d <= textWidth(w.text, w.size, false)/2; d += 4 {
		for _, x := range []float64{tip.X - d, tip.X + d} {
			w.at = Point{x, v.frame.Y0 - 8}
			offers = append(offers, offer{words: w, cost: d})
		}
	}
	return head.place(-1, offers)
}
