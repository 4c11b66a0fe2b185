package viz

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Schematic is a drawing of boxes, arrows, braces and text that explains rather
// than measures. The schematics of the paper are FigureErrors, FigureMPFMA,
// FigureTensorCoreBlock and FigureTensorCoreKernel.
type Schematic struct {
	title
	sheet *sheet
	parts []part
}

// part is a row of the CSV: what was drawn, where, and its text.
type part struct {
	kind       string
	x, y, w, h float64
	text       string
}

// The fills of schematics: one tint for one precision.
var (
	tintLow   = rgb(0xFBE3B5) // Orange on paper
	tintHigh  = rgb(0xD3EAF8) // SkyBlue on paper
	tintExact = rgb(0xF3F3F3)
	edge      = rgb(0x404040)
)

const (
	schemeText = 14.0
	schemeNote = 12.0
)

func newSchematic(name, finding, details string, w, h float64) *Schematic {
	s := &Schematic{title: newTitle(name, finding, details)}
	s.sheet = newSheet(w, h, s.summary())
	return s
}

// SVG draws the schematic.
func (s *Schematic) SVG() ([]byte, error) { return s.sheet.svg(), nil }

// PNG draws the schematic with two pixels per unit.
func (s *Schematic) PNG() ([]byte, error) { return s.sheet.png() }

// CSV lists the parts in the order they are drawn: kind, x, y, w, h in px, text.
func (s *Schematic) CSV() ([]byte, error) {
	rows := [][]string{{"kind", "x", "y", "w", "h", "text"}}
	for _, p := range s.parts {
		rows = append(rows, []string{p.kind, num(p.x), num(p.y), num(p.w), num(p.h), p.text})
	}
	return writeCSV(rows)
}

func (s *Schematic) note(kind string, b box, text string) {
	s.parts = append(s.parts, part{kind, b.x0, b.y0, b.width(), b.height(), text})
}

// text writes lines, parted by \n, around the height of at.
func (s *Schematic) text(at point, a align, size float64, c color.Color, text string) {
	lines := strings.Split(text, "\n")
	pitch := 1.3 * size
	for i, l := range lines {
		w := words{text: l, size: size, color: c, align: a}
		w.at = point{at.x, at.y + 0.36*size + (float64(i)-float64(len(lines)-1)/2)*pitch}
		s.sheet.write(w)
		s.note("text", w.box(), l)
	}
}

// heading writes a bold line.
func (s *Schematic) heading(at point, text string) {
	w := words{text: text, at: at, size: 16, color: inkDark, align: middle, bold: true}
	s.sheet.write(w)
	s.note("text", w.box(), text)
}

// node draws a box with a text in its middle.
func (s *Schematic) node(b box, r float64, f color.Color, text string) {
	s.sheet.rect(b, r, pen{fill: f, line: edge, width: 1.2})
	s.note("box", b, text)
	if text != "" {
		s.text(point{(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2}, middle, schemeText, inkDark, text)
	}
}

// round draws a circle with an operator in it.
func (s *Schematic) round(c point, r float64, text string) {
	s.sheet.circle(c, r, pen{fill: white, line: edge, width: 1.5})
	s.note("circle", box{c.x - r, c.y - r, c.x + r, c.y + r}, text)
	s.text(c, middle, 18, inkDark, text)
}

// dot draws a small disc, a point of a space.
func (s *Schematic) dot(c point) {
	s.sheet.circle(c, 4, fill(inkDark))
	s.note("dot", box{c.x - 4, c.y - 4, c.x + 4, c.y + 4}, "")
}

// arrow draws a polyline that ends in a head.
func (s *Schematic) arrow(c color.Color, style Style, pts ...point) {
	n := len(pts) - 1
	p, q := pts[n-1], pts[n]
	l := math.Hypot(q.x-p.x, q.y-p.y)
	shaft := append([]point{}, pts...)
	shaft[n] = point{q.x - 6*(q.x-p.x)/l, q.y - 6*(q.y-p.y)/l}
	s.sheet.line(pen{line: c, width: 1.6, dash: style.dash()}, shaft...)
	s.sheet.head(q, q.x-p.x, q.y-p.y, 10, c)
	s.note("arrow", hull(pts), "")
}

func (s *Schematic) line(c color.Color, width float64, style Style, pts ...point) {
	s.sheet.line(pen{line: c, width: width, dash: style.dash()}, pts...)
	s.note("line", hull(pts), "")
}

func hull(pts []point) box {
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range pts {
		b = box{min(b.x0, p.x), min(b.y0, p.y), max(b.x1, p.x), max(b.y1, p.y)}
	}
	return b
}

// brace draws a curly brace from p to q whose tip points to the left of that way.
func (s *Schematic) brace(p, q point) {
	const depth = 10.0
	l := math.Hypot(q.x-p.x, q.y-p.y)
	along := point{(q.x - p.x) / l, (q.y - p.y) / l}
	out := point{along.y, -along.x}
	on := func(t, d float64) point {
		return point{p.x + t*along.x + d*out.x, p.y + t*along.y + d*out.y}
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
	s.sheet.path(path, stroke(edge, 1.4))
	s.note("brace", hull([]point{p, q, on(m, depth)}), "")
}

// grid draws rows × cols cells; name gives the text of each, tint its fill.
func (s *Schematic) grid(p point, cell float64, rows, cols int, name func(i, j int) string, tint func(i, j int) color.Color) {
	for i := range rows {
		for j := range cols {
			x, y := p.x+float64(j)*cell, p.y+float64(i)*cell
			b := box{x, y, x + cell, y + cell}
			s.sheet.rect(b, 0, pen{fill: tint(i, j), line: rgb(0x9A9A9A), width: 0.8})
			s.note("cell", b, name(i, j))
			s.text(point{x + cell/2, y + cell/2}, middle, 12, inkDark, name(i, j))
		}
	}
	b := box{p.x, p.y, p.x + float64(cols)*cell, p.y + float64(rows)*cell}
	s.sheet.rect(b, 0, stroke(edge, 1.4))
	s.note("grid", b, "")
}
