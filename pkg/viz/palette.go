package viz

import (
	"fmt"
	"image/color"
	"math"
)

// The colours, from the palette of Okabe and Ito, which remains distinguishable
// under the common colour vision deficiencies. Package paper assigns them to
// methods.
var (
	Black     color.Color = RGB(0x000000)
	Vermilion color.Color = RGB(0xD55E00)
	Blue      color.Color = RGB(0x0072B2)
	Green     color.Color = RGB(0x009E73)
	Purple    color.Color = RGB(0xCC79A7)
	SkyBlue   color.Color = RGB(0x56B4E9) // areas only
	Orange    color.Color = RGB(0xE69F00) // areas only
	Grey      color.Color = RGB(0x767676) // lines of reference
)

// Generations are the colours of successive generations of machines: shades of
// Purple, from light to dark.
var Generations = []color.Color{Purple, RGB(0xA0437D), RGB(0x6A1B5A)}

// The colours of everything that is not data.
var (
	White    = RGB(0xFFFFFF)
	Ink      = RGB(0x1A1A1A) // axis titles, schematics
	SoftInk  = RGB(0x404040) // ticks, notes
	Edge     = RGB(0x404040) // edges of boxes, arrows
	gridGrey = RGB(0xE4E4E4)
)

// Style is the dash pattern of a line.
type Style int

const (
	Solid  Style = iota // observations
	Dashed              // bounds
	Dotted              // a second bound, a variant, or a reference
)

// dash returns the lengths of dashes and gaps in px, nil for a solid line.
func (s Style) dash() []float64 {
	switch s {
	case Dashed:
		return []float64{8, 4.5}
	case Dotted:
		return []float64{2, 3.5}
	}
	return nil
}

// Series is the label and the style of one set of data. A nil Color is Black.
type Series struct {
	Label string
	Color color.Color
	Style Style
}

func (s Series) checked() Series {
	check(s.Label != "", "series label is empty")
	checkWidth("label", s.Label, labelSize, 500)
	check(s.Style >= Solid && s.Style <= Dotted, "style of %q = %d, want Solid, Dashed or Dotted", s.Label, s.Style)
	if s.Color == nil {
		s.Color = Black
	}
	return s
}

// RGB returns the opaque colour with the code v, such as 0xD55E00.
func RGB(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}

// hex returns c in the syntax of CSS, such as #D55E00, without its
// transparency.
func hex(c color.Color) string {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("#%02X%02X%02X", n.R, n.G, n.B)
}

// legible darkens c until text in this colour has contrast 4.5 on white (WCAG
// 2.1, level AA).
func legible(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	r, g, b := float64(n.R), float64(n.G), float64(n.B)
	for contrast(r, g, b) < 4.5 {
		r, g, b = 0.97*r, 0.97*g, 0.97*b
	}
	return color.RGBA{R: uint8(r), G: uint8(g), B: uint8(b), A: 0xFF}
}

// contrast returns the contrast of a colour against white, between 1 and 21
// (WCAG 2.1).
func contrast(r, g, b float64) float64 {
	linear := func(v float64) float64 {
		v /= 255
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 1.05 / (0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b) + 0.05)
}
