package viz

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// svg returns the sheet as SVG with two decimals and without a date, so that
// the same drawing gives the same file. It does not use vgsvg, which writes
// five significant digits whatever the magnitude and only one style per text.
func (s *sheet) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s"`,
		num(s.w), num(s.h), num(s.w), num(s.h))
	fmt.Fprintf(&b, ` font-family="%s" xml:space="preserve" role="img" aria-label="%s">`+"\n", fontFamily, escape(s.label))
	fmt.Fprintf(&b, `<rect width="%s" height="%s" fill="#FFFFFF"/>`+"\n", num(s.w), num(s.h))
	for _, m := range s.marks {
		switch m := m.(type) {
		case shape:
			m.svg(&b)
		case words:
			m.svg(&b)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (m shape) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<path d="%s" fill="%s"`, pathData(m.path), paint(m.pen.fill != nil, m.pen))
	if k := m.pen; k.line != nil {
		fmt.Fprintf(b, ` stroke="%s" stroke-width="%s"`, hex(k.line), num(k.width))
		if k.dash != nil {
			b.WriteString(` stroke-dasharray="`)
			for i, d := range k.dash {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(num(d))
			}
			b.WriteByte('"')
		}
		if k.phase != 0 {
			fmt.Fprintf(b, ` stroke-dashoffset="%s"`, num(k.phase))
		}
	}
	b.WriteString("/>\n")
}

func paint(filled bool, k pen) string {
	if !filled {
		return "none"
	}
	return hex(k.fill)
}

// pathData returns a path in absolute commands. Consecutive points that
// coincide after rounding are written once.
func pathData(p vg.Path) string {
	var b bytes.Buffer
	var x, y string
	for _, c := range p {
		cx, cy := num(float64(c.Pos.X)), num(float64(c.Pos.Y))
		switch c.Type {
		case vg.MoveComp:
			fmt.Fprintf(&b, "M%s %s", cx, cy)
		case vg.LineComp:
			switch {
			case cx == x && cy == y:
			case cy == y:
				b.WriteString("H" + cx)
			case cx == x:
				b.WriteString("V" + cy)
			default:
				fmt.Fprintf(&b, "L%s %s", cx, cy)
			}
		case vg.CurveComp:
			b.WriteByte('C')
			for _, q := range c.Control {
				fmt.Fprintf(&b, "%s %s ", num(float64(q.X)), num(float64(q.Y)))
			}
			fmt.Fprintf(&b, "%s %s", cx, cy)
		case vg.CloseComp:
			b.WriteByte('Z')
			continue
		}
		x, y = cx, cy
	}
	return b.String()
}

func (w words) svg(b *bytes.Buffer) {
	fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s" fill="%s"`, num(w.at.X), num(w.at.Y), num(w.size), hex(w.color))
	switch w.align {
	case Middle:
		b.WriteString(` text-anchor="middle"`)
	case End:
		b.WriteString(` text-anchor="end"`)
	}
	if w.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if w.up {
		fmt.Fprintf(b, ` transform="rotate(-90 %s %s)"`, num(w.at.X), num(w.at.Y))
	}
	b.WriteByte('>')
	shift := 0.0
	for _, r := range parse(w.text) {
		d := r.shift(w.size)
		if !r.italic && r.script == 0 && d == shift {
			b.WriteString(escape(r.text))
			continue
		}
		b.WriteString("<tspan")
		if d != shift {
			fmt.Fprintf(b, ` dy="%s"`, num(d-shift))
		}
		if r.script != 0 {
			fmt.Fprintf(b, ` font-size="%s"`, num(r.size(w.size)))
		}
		if r.italic {
			b.WriteString(` font-style="italic"`)
		}
		fmt.Fprintf(b, ">%s</tspan>", escape(r.text))
		shift = d
	}
	b.WriteString("</text>\n")
}

// num formats v with at most two decimals.
func num(v float64) string {
	v = math.Round(100*v) / 100
	if v == 0 {
		v = 0 // no negative zero
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // writing to a bytes.Buffer never fails
	return b.String()
}
