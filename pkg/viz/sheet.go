package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// point is a position on a sheet in px, x to the right and y downward.
type point struct{ x, y float64 }

// box is a rectangle with x0 <= x1 and y0 <= y1.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) width() float64  { return b.x1 - b.x0 }
func (b box) height() float64 { return b.y1 - b.y0 }

// grow returns b with d more on every side.
func (b box) grow(d float64) box { return box{b.x0 - d, b.y0 - d, b.x1 + d, b.y1 + d} }

// hits reports whether the interiors of b and c meet.
func (b box) hits(c box) bool { return b.x0 < c.x1 && c.x0 < b.x1 && b.y0 < c.y1 && c.y0 < b.y1 }

// holds reports whether c lies in b.
func (b box) holds(c box) bool { return b.x0 <= c.x0 && c.x1 <= b.x1 && b.y0 <= c.y0 && c.y1 <= b.y1 }

// nearest returns the point of b that is nearest to q.
func (b box) nearest(q point) point {
	return point{min(max(q.x, b.x0), b.x1), min(max(q.y, b.y0), b.y1)}
}

// pen is how a shape is painted. A nil fill or line is absent.
type pen struct {
	fill, line color.Color
	width      float64
	dash       []float64
	phase      float64 // how far into the dash pattern the line starts
}

func stroke(c color.Color, width float64, dash ...float64) pen {
	return pen{line: c, width: width, dash: dash}
}

func fill(c color.Color) pen { return pen{fill: c} }

// shape is a painted path.
type shape struct {
	path vg.Path // in px, y downward
	pen  pen
}

type align int

const (
	start align = iota
	middle
	end
)

// words is one line of text. The point at is on the baseline.
type words struct {
	text  string
	at    point
	size  float64
	color color.Color
	align align
	bold  bool
	up    bool // turned to read upward
}

// box returns the room the text takes.
func (w words) box() box {
	l := textWidth(w.text, w.size, w.bold)
	before, ascent, descent := 0.0, 0.80*w.size, 0.24*w.size
	switch w.align {
	case middle:
		before = l / 2
	case end:
		before = l
	}
	if w.up {
		return box{w.at.x - ascent, w.at.y + before - l, w.at.x + descent, w.at.y + before}
	}
	return box{w.at.x - before, w.at.y - ascent, w.at.x - before + l, w.at.y + descent}
}

// sheet is a drawing: marks in the order they are painted.
type sheet struct {
	w, h  float64
	label string // read aloud in place of the picture
	marks []any  // shape or words
}

func newSheet(w, h float64, label string) *sheet { return &sheet{w: w, h: h, label: label} }

func (s *sheet) path(p vg.Path, k pen) { s.marks = append(s.marks, shape{p, k}) }

func (s *sheet) write(w words) { s.marks = append(s.marks, w) }

// line draws a polyline through at least two points.
func (s *sheet) line(k pen, pts ...point) {
	if len(pts) < 2 {
		return
	}
	var p vg.Path
	p.Move(at(pts[0]))
	for _, q := range pts[1:] {
		p.Line(at(q))
	}
	s.path(p, k)
}

// rect draws a rectangle whose corners are rounded with radius r.
func (s *sheet) rect(b box, r float64, k pen) {
	r = min(r, b.width()/2, b.height()/2)
	var p vg.Path
	if r <= 0 {
		p.Move(at(point{b.x0, b.y0}))
		p.Line(at(point{b.x1, b.y0}))
		p.Line(at(point{b.x1, b.y1}))
		p.Line(at(point{b.x0, b.y1}))
	} else {
		q := r * (1 - arcHandle)
		p.Move(at(point{b.x0 + r, b.y0}))
		p.Line(at(point{b.x1 - r, b.y0}))
		cubic(&p, point{b.x1 - q, b.y0}, point{b.x1, b.y0 + q}, point{b.x1, b.y0 + r})
		p.Line(at(point{b.x1, b.y1 - r}))
		cubic(&p, point{b.x1, b.y1 - q}, point{b.x1 - q, b.y1}, point{b.x1 - r, b.y1})
		p.Line(at(point{b.x0 + r, b.y1}))
		cubic(&p, point{b.x0 + q, b.y1}, point{b.x0, b.y1 - q}, point{b.x0, b.y1 - r})
		p.Line(at(point{b.x0, b.y0 + r}))
		cubic(&p, point{b.x0, b.y0 + q}, point{b.x0 + q, b.y0}, point{b.x0 + r, b.y0})
	}
	p.Close()
	s.path(p, k)
}

// arcHandle is the length of the control arms of a quarter circle of radius 1.
const arcHandle = 0.5523

func (s *sheet) circle(c point, r float64, k pen) {
	s.rect(box{c.x - r, c.y - r, c.x + r, c.y + r}, r, k)
}

// head draws a filled arrow head with its tip at p, pointing along (dx, dy).
func (s *sheet) head(p point, dx, dy, size float64, c color.Color) {
	l := math.Hypot(dx, dy)
	dx, dy = dx/l*size, dy/l*size
	var a vg.Path
	a.Move(at(p))
	a.Line(at(point{p.x - dx - 0.38*dy, p.y - dy + 0.38*dx}))
	a.Line(at(point{p.x - 0.75*dx, p.y - 0.75*dy}))
	a.Line(at(point{p.x - dx + 0.38*dy, p.y - dy - 0.38*dx}))
	a.Close()
	s.path(a, fill(c))
}

func at(p point) vg.Point { return vg.Point{X: vg.Length(p.x), Y: vg.Length(p.y)} }

func cubic(p *vg.Path, c1, c2, to point) { p.CubeTo(at(c1), at(c2), at(to)) }
