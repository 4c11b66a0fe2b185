package viz

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngScale is the number of pixels per unit of the sheet.
const pngScale = 2

// png returns the sheet as PNG. One unit is one point of vg, whose y axis
// points upward.
func (s *sheet) png() ([]byte, error) {
	c := vgimg.NewWith(
		vgimg.UseWH(vg.Length(s.w), vg.Length(s.h)),
		vgimg.UseDPI(pngScale*72),
		vgimg.UseBackgroundColor(White))
	for _, m := range s.marks {
		switch m := m.(type) {
		case shape:
			m.png(c, s.h)
		case words:
			m.png(c, s.h)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, indexed(c.Image())); err != nil {
		return nil, fmt.Errorf("viz: png: %w", err)
	}
	return b.Bytes(), nil
}

// indexed returns an image of at most 256 colours, such as a table, as the same
// image with a palette, whose file is less than half as large. It returns any
// other image unchanged.
func indexed(img image.Image) image.Image {
	from, ok := img.(*image.RGBA)
	if !ok {
		return img
	}
	const most, pixel = 256, 4 // colours, bytes
	index := map[[pixel]byte]uint8{}
	var palette color.Palette
	var i uint8
	var last [pixel]byte // of index i, if there is a palette
	r := img.Bounds()
	z := image.NewPaletted(r, nil)
	for y := range r.Dy() {
		row := from.Pix[y*from.Stride:]
		for x := range r.Dx() {
			if c := [pixel]byte(row[x*pixel:]); c != last || palette == nil {
				known := false
				if i, known = index[c]; !known {
					if len(palette) == most {
						return img
					}
					i = uint8(len(palette))
					index[c], palette = i, append(palette, color.RGBA{c[0], c[1], c[2], c[3]})
				}
				last = c
			}
			z.Pix[y*z.Stride+x] = i
		}
	}
	z.Palette = palette
	return z
}

func (m shape) png(c *vgimg.Canvas, h float64) {
	p := flipped(m.path, h)
	if m.pen.fill != nil {
		c.SetColor(m.pen.fill)
		c.Fill(p)
	}
	if m.pen.line != nil {
		c.SetColor(m.pen.line)
		c.SetLineWidth(vg.Length(m.pen.width))
		var dash []vg.Length
		for _, d := range m.pen.dash {
			dash = append(dash, vg.Length(d))
		}
		c.SetLineDash(dash, vg.Length(m.pen.phase))
		c.Stroke(p)
	}
}

// flipped returns the path with the y axis pointing upward.
func flipped(p vg.Path, h float64) vg.Path {
	up := func(q vg.Point) vg.Point { return vg.Point{X: q.X, Y: vg.Length(h) - q.Y} }
	q := make(vg.Path, len(p))
	for i, c := range p {
		c.Pos = up(c.Pos)
		control := make([]vg.Point, len(c.Control))
		for j, k := range c.Control {
			control[j] = up(k)
		}
		c.Control = control
		q[i] = c
	}
	return q
}

func (w words) png(c *vgimg.Canvas, h float64) {
	c.SetColor(w.color)
	c.Push()
	defer c.Pop()
	c.Translate(vg.Point{X: vg.Length(w.at.X), Y: vg.Length(h - w.at.Y)})
	if w.up {
		c.Rotate(math.Pi / 2)
	}
	x := 0.0
	switch l := textWidth(w.text, w.size, w.bold); w.align {
	case Middle:
		x = -l / 2
	case End:
		x = -l
	}
	for _, r := range parse(w.text) {
		x = r.png(c, x, w)
	}
}

// png writes one run from x on and returns the x at which it ends. A hat or
// tilde is drawn separately, centred above its letter, since x/image does not
// position combining marks.
func (r run) png(c *vgimg.Canvas, x float64, w words) float64 {
	f := face(r.italic, w.bold, r.size(w.size))
	y := -r.shift(w.size)
	letters := []rune(r.text)
	for len(letters) > 0 {
		n := 1
		for n < len(letters) && !isMark(letters[n]) {
			n++
		}
		piece := string(letters[:n])
		c.FillString(f, vg.Point{X: vg.Length(x), Y: vg.Length(y)}, piece)
		x += float64(f.Width(piece))
		base := letters[n-1]
		letters = letters[n:]
		for len(letters) > 0 && isMark(letters[0]) {
			b, m := glyphBox(f, base), glyphBox(f, letters[0])
			lift := max(0, glyphBox(f, 'x').Y0-b.Y0)
			left := x - float64(f.Width(string(base)))
			dx := left + (b.X0+b.X1)/2 - (m.X0+m.X1)/2
			c.FillString(f, vg.Point{X: vg.Length(dx), Y: vg.Length(y + lift)}, string(letters[0]))
			letters = letters[1:]
		}
	}
	return x
}
