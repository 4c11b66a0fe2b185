package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// Point is a position on a sheet in px, x to the right and y downward.
type Point struct{ X, Y float64 }

// At returns the position (x, y).
func At(x, y float64) Point { return Point{x, y} }

// Box is a rectangle with x0 <= x1 and y0 <= y1.
type Box struct{ X0, Y0, X1, Y1 float64 }

// Rect returns the rectangle from (x0, y0) to (x1, y1).
func Rect(x0, y0, x1, y1 float64) Box { return Box{x0, y0, x1, y1} }

func (b Box) width() float64  { return b.X1 - b.X0 }
func (b Box) height() float64 { return b.Y1 - b.Y0 }

// grow returns b enlarged by d on every side.
func (b Box) grow(d float64) Box { return Box{b.X0 - d, b.Y0 - d, b.X1 + d, b.Y1 + d} }

// hits reports whether the interiors of b and c intersect.
func (b Box) hits(c Box) bool { return b.X0 < c.X1 && c.X0 < b.X1 && b.Y0 < c.Y1 && c.Y0 < b.Y1 }

// holds reports whether b contains c.
func (b Box) holds(c Box) bool { return b.X0 <= c.X0 && c.X1 <= b.X1 && b.Y0 <= c.Y0 && c.Y1 <= b.Y1 }

// nearest returns the point of b that is nearest to q.
func (b Box) nearest(q Point) Point {
	return Point{min(max(q.X, b.X0), b.X1), min(max(q.Y, b.Y0), b.Y1)}
}

// pen is the style of a shape. If fill or line is nil, the shape has none.
type pen struct {
	fill, line color.Color
	width      float64
	dash       []float64
	phase      float64 // offset into the dash pattern at the start of the line
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

// Align is the horizontal alignment of a text relative to its point.
type Align int

const (
	Start Align = iota
	Middle
	End
)

// words is one line of text. The point at is on its baseline.
type words struct {
	text  string
	at    Point
	size  float64
	color color.Color
	align Align
	bold  bool
	up    bool // rotated to read upward
}

// box returns the bounding box of the text.
func (w words) box() Box {
	l := textWidth(w.text, w.size, w.bold)
	before, ascent, descent := 0.0, 0.80*w.size, 0.24*w.size
	switch w.align {
	case Middle:
		before = l / 2
	case End:
		before = l
	}
	if w.up {
		return Box{w.at.X - ascent, w.at.Y + before - l, w.at.X + descent, w.at.Y + before}
	}
	return Box{w.at.X - before, w.at.Y - ascent, w.at.X - before + l, w.at.Y + descent}
}

// sheet is a drawing: shapes and texts in the order in which they are painted.
type sheet struct {
	w, h  float64
	label string // alternative text, for screen readers
	marks []any  // shape or words
}

func newSheet(w, h float64, label string) *sheet { return &sheet{w: w, h: h, label: label} }

func (s *sheet) path(p vg.Path, k pen) { s.marks = append(s.marks, shape{p, k}) }

func (s *sheet) write(w words) { s.marks = append(s.marks, w) }

// line draws a polyline through at least two points.
func (s *sheet) line(k pen, pts ...Point) {
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
func (s *sheet) rect(b Box, r float64, k pen) {
	r = min(r, b.width()/2, b.height()/2)
	var p vg.Path
	if r <= 0 {
		p.Move(at(Point{b.X0, b.Y0}))
		p.Line(at(Point{b.X1, b.Y0}))
		p.Line(at(Point{b.X1, b.Y1}))
		p.Line(at(Point{b.X0, b.Y1}))
	} else {
		q := r * (1 - arcHandle)
		p.Move(at(Point{b.X0 + r, b.Y0}))
		p.Line(at(Point{b.X1 - r, b.Y0}))
		cubic(&p, Point{b.X1 - q, b.Y0}, Point{b.X1, b.Y0 + q}, Point{b.X1, b.Y0 + r})
		p.Line(at(Point{b.X1, b.Y1 - r}))
		cubic(&p, Point{b.X1, b.Y1 - q}, Point{b.X1 - q, b.Y1}, Point{b.X1 - r, b.Y1})
		p.Line(at(Point{b.X0 + r, b.Y1}))
		cubic(&p, Point{b.X0 + q, b.Y1}, Point{b.X0, b.Y1 - q}, Point{b.X0, b.Y1 - r})
		p.Line(at(Point{b.X0, b.Y0 + r}))
		cubic(&p, Point{b.X0, b.Y0 + q}, Point{b.X0 + q, b.Y0}, Point{b.X0 + r, b.Y0})
	}
	p.Close()
	s.path(p, k)
}

// arcHandle is the length of the control arms of a Bézier curve for a quarter
// circle of radius 1.
const arcHandle = 0.5523

func (s *sheet) circle(c Point, r float64, k pen) {
	s.rect(Box{c.X - r, c.Y - r, c.X + r, c.Y + r}, r, k)
}

// head draws a filled arrow head with its tip at p, pointing along (dx, dy).
func (s *sheet) head(p Point, dx, dy, size float64, c color.Color) {
	l := math.Hypot(dx, dy)
	dx, dy = dx/l*size, dy/l*size
	var a vg.Path
	a.Move(at(p))
	a.Line(at(Point{p.X - dx - 0.38*dy, p.Y - dy + 0.38*dx}))
	a.Line(at(Point{p.X - 0.75*dx, p.Y - 0.75*dy}))
	a.Line(at(Point{p.X - dx + 0.38*dy, p.Y - dy - 0.38*dx}))
	a.Close()
	s.path(a, fill(c))
}

func at(p Point) vg.Point { return vg.Point{X: vg.Length(p.X), Y: vg.Length(p.Y)} }

func cubic(p *vg.Path, c1, c2, to Point) { p.CubeTo(at(c1), at(c2), at(to)) }
