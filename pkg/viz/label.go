package viz

import (
	"math"
	"sort"
)

// offer is a possible place of a label. Its cost is smaller the better it reads
// there. A leader is a thin line from the label to what it names.
type offer struct {
	words  words
	cost   float64
	leader []Point
	tie    []Point // from the labelled curve to the label; no other curve may cross it
	opaque bool    // covers a reference line, so it needs a white background
}

// curve is a polyline that labels avoid. A label never covers a hard one, and
// covers a soft one (a reference line) only if there is no better place.
type curve struct {
	pts  []Point
	hard bool
}

// placer places labels in a frame one after another, without overlap.
type placer struct {
	frame  Box
	taken  []Box
	curves []curve
}

const (
	labelRoom  = 2.0 // free px around a label
	nearRoom   = 5.0 // a label closer than this seems to name the curve
	endRoom    = 40  // closer than this to the end of a line a label seems to name it
	costNear   = 6.0
	costCross  = 60.0
	costOfStep = 1.0 // for each row of distance from the best height
)

// place chooses the cheapest offer that covers nothing hard, and reports
// whether there is one. The label may be near the curve with the index own.
func (p *placer) place(own int, offers []offer) (offer, bool) {
	best, found := offer{cost: math.Inf(1)}, false
	for _, o := range offers {
		if o.cost >= best.cost || !p.free(o) {
			continue
		}
		extra, ok := p.judge(own, o.words.box(), o.tie)
		if o.opaque = extra >= costCross; ok && o.cost+extra < best.cost {
			o.cost += extra
			best, found = o, true
		}
	}
	if found {
		p.taken = append(p.taken, best.words.box().grow(labelRoom))
	}
	return best, found
}

// free reports whether the offer is inside the frame and overlaps no other
// label.
func (p *placer) free(o offer) bool {
	b := o.words.box().grow(labelRoom)
	if !p.frame.holds(b) {
		return false
	}
	for _, t := range p.taken {
		if t.hits(b) || crosses(o.leader, t) {
			return false
		}
	}
	for _, c := range p.curves {
		if c.hard && meet(c.pts, o.leader) {
			return false
		}
	}
	return true
}

// judge returns the cost of a label in box b that covers soft curves or comes
// near other curves, and whether it is allowed. tie is the line from the label
// to its curve, which has the index own.
func (p *placer) judge(own int, b Box, tie []Point) (cost float64, ok bool) {
	for i, c := range p.curves {
		switch {
		case i != own && c.hard && meet(c.pts, tie):
			return 0, false
		case crosses(c.pts, b.grow(labelRoom)):
			if c.hard {
				return 0, false
			}
			cost += costCross
		case i != own && crosses(c.pts, b.grow(nearRoom)):
			cost += costNear
		}
	}
	return cost, true
}

// crosses reports whether a polyline, or a single point, meets the interior of
// b.
func crosses(pts []Point, b Box) bool {
	if len(pts) == 1 {
		return b.hits(Box{pts[0].X, pts[0].Y, pts[0].X, pts[0].Y})
	}
	for i := 1; i < len(pts); i++ {
		p, q := pts[i-1], pts[i]
		if max(p.X, q.X) < b.X0 || min(p.X, q.X) > b.X1 || max(p.Y, q.Y) < b.Y0 || min(p.Y, q.Y) > b.Y1 {
			continue // most segments are far away
		}
		if _, _, ok := clipSegment(p, q, b); ok {
			return true
		}
	}
	return false
}

// meet reports whether two polylines come within 1 px of each other, tested
// every 2 px along b.
func meet(a, b []Point) bool {
	for i := 1; i < len(b); i++ {
		l := math.Hypot(b[i].X-b[i-1].X, b[i].Y-b[i-1].Y)
		for s := 0.0; s <= l; s += 2 {
			x, y := b[i-1].X+s/l*(b[i].X-b[i-1].X), b[i-1].Y+s/l*(b[i].Y-b[i-1].Y)
			if crosses(a, Box{x - 1, y - 1, x + 1, y + 1}) {
				return true
			}
		}
	}
	return false
}

// clipSegment returns the part of the segment from p to q inside b
// (Liang and Barsky 1984).
func clipSegment(p, q Point, b Box) (Point, Point, bool) {
	t0, t1 := 0.0, 1.0
	dx, dy := q.X-p.X, q.Y-p.Y
	for _, e := range [4][2]float64{{-dx, p.X - b.X0}, {dx, b.X1 - p.X}, {-dy, p.Y - b.Y0}, {dy, b.Y1 - p.Y}} {
		d, room := e[0], e[1]
		switch {
		case d == 0 && room < 0:
			return p, q, false
		case d < 0:
			t0 = max(t0, room/d)
		case d > 0:
			t1 = min(t1, room/d)
		}
	}
	if t0 > t1 {
		return p, q, false
	}
	return Point{p.X + t0*dx, p.Y + t0*dy}, Point{p.X + t1*dx, p.Y + t1*dy}, true
}

// clip returns the pieces of a polyline inside b.
func clip(pts []Point, b Box) [][]Point {
	var pieces [][]Point
	for i := 1; i < len(pts); i++ {
		p, q, ok := clipSegment(pts[i-1], pts[i], b)
		if !ok {
			continue
		}
		if n := len(pieces) - 1; n >= 0 && pieces[n][len(pieces[n])-1] == p {
			pieces[n] = append(pieces[n], q)
			continue
		}
		pieces = append(pieces, []Point{p, q})
	}
	return pieces
}

// spread returns the centres of items of the given sizes, as near to want as
// possible (in least squares), such that the items do not overlap, are in the
// order of want, and lie between lo and hi. It reports whether there is room.
func spread(want, size []float64, lo, hi float64) ([]float64, bool) {
	n := len(want)
	if n == 0 {
		return nil, true
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return want[order[i]] < want[order[j]] })

	// offset[i] is the centre of item i if all items are adjacent and the first
	// starts at 0.
	offset := make([]float64, n)
	total := 0.0
	for i, k := range order {
		offset[i] = total + size[k]/2
		total += size[k]
	}
	if total > hi-lo {
		return nil, false
	}

	// With z[i] = y[i] - offset[i] the constraint is that z is ascending. Adjacent
	// items that violate it are merged into blocks at their mean.
	type block struct {
		sum   float64
		count int
	}
	mean := func(b block) float64 { return b.sum / float64(b.count) }
	var blocks []block
	for i, k := range order {
		b := block{want[k] - offset[i], 1}
		for len(blocks) > 0 && mean(blocks[len(blocks)-1]) > mean(b) {
			last := blocks[len(blocks)-1]
			b = block{b.sum + last.sum, b.count + last.count}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}

	y := make([]float64, n)
	i := 0
	for _, b := range blocks {
		z := min(max(mean(b), lo), hi-total)
		for range b.count {
			y[order[i]] = z + offset[i]
			i++
		}
	}
	return y, true
}
