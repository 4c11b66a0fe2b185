package viz

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Schematic is an explanatory drawing of boxes, arrows, braces and text,
// without measured data. The schematics of the paper are FigureErrors,
// FigureMPFMA, FigureTensorCoreBlock and FigureTensorCoreKernel of package
// paper.
type Schematic struct {
	title
	sheet *sheet
	parts []part
}

// part is a row of the CSV: the kind of the part, its bounding box and its
// text.
type part struct {
	kind       string
	x, y, w, h float64
	text       string
}

// NewSchematic returns an empty schematic of w × h px. The finding is one
// sentence. It panics unless name consists of letters, digits, - and _, the
// first a letter or digit, and the finding is not empty.
func NewSchematic(name, finding, details string, w, h float64) *Schematic {
	s := &Schematic{title: newTitle(name, finding, details)}
	s.sheet = newSheet(w, h, s.summary())
	return s
}

// SVG returns the schematic as a vector image.
func (s *Schematic) SVG() ([]byte, error) { return s.sheet.svg(), nil }

// PNG returns the schematic with two pixels per unit.
func (s *Schematic) PNG() ([]byte, error) { return s.sheet.png() }

// CSV returns the parts in the order in which they are drawn: kind, x, y, w, h
// in px, text.
func (s *Schematic) CSV() ([]byte, error) {
	rows := [][]string{{"kind", "x", "y", "w", "h", "text"}}
	for _, p := range s.parts {
		rows = append(rows, []string{p.kind, num(p.x), num(p.y), num(p.w), num(p.h), p.text})
	}
	return writeCSV(rows)
}

func (s *Schematic) note(kind string, b Box, text string) {
	s.parts = append(s.parts, part{kind, b.X0, b.Y0, b.width(), b.height(), text})
}

// Region draws a filled rectangle with rounded corners and no edge. The name
// appears in the CSV only.
func (s *Schematic) Region(b Box, radius float64, c color.Color, name string) {
	s.sheet.rect(b, radius, fill(c))
	s.note("region", b, name)
}

// Text writes the lines of text, separated by \n and vertically centred at the
// point at.
func (s *Schematic) Text(at Point, a Align, size float64, c color.Color, text string) {
	lines := strings.Split(text, "\n")
	pitch := 1.3 * size
	for i, l := range lines {
		w := words{text: l, size: size, color: c, align: a}
		w.at = Point{at.X, at.Y + 0.36*size + (float64(i)-float64(len(lines)-1)/2)*pitch}
		s.sheet.write(w)
		s.note("text", w.box(), l)
	}
}

// Heading writes a bold line, horizontally centred at the point at.
func (s *Schematic) Heading(at Point, text string) {
	w := words{text: text, at: at, size: 16, color: Ink, align: Middle, bold: true}
	s.sheet.write(w)
	s.note("text", w.box(), text)
}

// nodeText is the text size of a node in px.
const nodeText = 14.0

// Node draws a box with corners of radius r, filled with f, and a text in its
// centre.
func (s *Schematic) Node(b Box, r float64, f color.Color, text string) {
	s.sheet.rect(b, r, pen{fill: f, line: Edge, width: 1.2})
	s.note("box", b, text)
	if text != "" {
		s.Text(Point{(b.X0 + b.X1) / 2, (b.Y0 + b.Y1) / 2}, Middle, nodeText, Ink, text)
	}
}

// Operator draws a circle with centre c and radius r, and the symbol of an
// operator in it.
func (s *Schematic) Operator(c Point, r float64, text string) {
	s.sheet.circle(c, r, pen{fill: White, line: Edge, width: 1.5})
	s.note("circle", Box{c.X - r, c.Y - r, c.X + r, c.Y + r}, text)
	s.Text(c, Middle, 18, Ink, text)
}

// Dot draws a small disc, for a point of a space.
func (s *Schematic) Dot(c Point) {
	s.sheet.circle(c, 4, fill(Ink))
	s.note("dot", Box{c.X - 4, c.Y - 4, c.X + 4, c.Y + 4}, "")
}

// Arrow draws a polyline that ends in an arrow head. It panics with fewer than
// two points.
func (s *Schematic) Arrow(c color.Color, style Style, pts ...Point) {
	n := len(pts) - 1
	if n < 1 || pts[n-1] == pts[n] {
		panic(fmt.Sprintf("viz: arrow of the points %v, want two at least, of which the last differs from the one before", pts))
	}
	p, q := pts[n-1], pts[n]
	l := math.Hypot(q.X-p.X, q.Y-p.Y)
	shaft := append([]Point{}, pts...)
	shaft[n] = Point{q.X - 6*(q.X-p.X)/l, q.Y - 6*(q.Y-p.Y)/l}
	s.sheet.line(pen{line: c, width: 1.6, dash: style.dash()}, shaft...)
	s.sheet.head(q, q.X-p.X, q.Y-p.Y, 10, c)
	s.note("arrow", hull(pts), "")
}

// Line draws a polyline.
func (s *Schematic) Line(c color.Color, width float64, style Style, pts ...Point) {
	if len(pts) < 2 {
		panic(fmt.Sprintf("viz: line of the points %v, want two at least", pts))
	}
	s.sheet.line(pen{line: c, width: width, dash: style.dash()}, pts...)
	s.note("line", hull(pts), "")
}

func hull(pts []Point) Box {
	b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range pts {
		b = Box{min(b.X0, p.X), min(b.Y0, p.Y), max(b.X1, p.X), max(b.Y1, p.Y)}
	}
	return b
}

// Brace draws a curly brace from p to q. Its tip points to the left, seen in
// the direction from p to q.
func (s *Schematic) Brace(p, q Point) {
	const depth = 10.0
	l := math.Hypot(q.X-p.X, q.Y-p.Y)
	along := Point{(q.X - p.X) / l, (q.Y - p.Y) / l}
	out := Point{along.Y, -along.X}
	on := func(t, d float64) Point {
		return Point{p.X + t*along.X + d*out.X, p.Y + t*along.Y + d*out.Y}
	}
	m, r := l/2, min(depth, l/4)
	var path vg.Path
	path.Move(at(p))
	cubic(&path, on(0, depth/2), on(0.2*r, depth/2), on(r, depth/2))
	path.Line(at(on(m-r, depth/2)))
	cubic(&path, on(m-0.2*r, depth/2), on(m, depth/2), on(m, depth))
	cubic(&path, on(m, depth/2), on(m+0.2*r, depth/2), on(m+r, depth/2))
	path.Line(at(on(l-r, depth/2)))
	cubic(&path, on(l-0.2*r, depth/2), on(l, depth/2), q)
	s.sheet.path(path, stroke(Edge, 1.4))
	s.note("brace", hull([]Point{p, q, on(m, depth)}), "")
}

// Grid draws rows × cols square cells of side cell px, with the upper left
// corner at p. name(i, j) is the text and tint(i, j) the fill colour of the
// cell in row i and column j.
func (s *Schematic) Grid(p Point, cell float64, rows, cols int, name func(i, j int) string, tint func(i, j int) color.Color) {
	for i := range rows {
		for j := range cols {
			x, y := p.X+float64(j)*cell, p.Y+float64(i)*cell
			b := Box{x, y, x + cell, y + cell}
			s.sheet.rect(b, 0, pen{fill: tint(i, j), line: RGB(0x9A9A9A), width: 0.8})
			s.note("cell", b, name(i, j))
			s.Text(Point{x + cell/2, y + cell/2}, Middle, 12, Ink, name(i, j))
		}
	}
	b := Box{p.X, p.Y, p.X + float64(cols)*cell, p.Y + float64(rows)*cell}
	s.sheet.rect(b, 0, stroke(Edge, 1.4))
	s.note("grid", b, "")
}
