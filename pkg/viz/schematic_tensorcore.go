package viz

import (
	"fmt"
	"image/color"
)

// FigureTensorCoreBlock draws Figure 3 of the paper: a tensor core computes
// D = A B + C for blocks of 4 × 4 elements, 64 multiply-adds at once; one
// element of D and what goes into it are tinted.
func FigureTensorCoreBlock() *Schematic {
	s := newSchematic("fig3-tensor-core-block",
		"A tensor core multiplies 4 × 4 blocks and adds a third: 16 inner products of length 4, 64 multiply-adds.",
		"Tinted: one element of D and the numbers it is made of. Drawn by viz.FigureTensorCoreBlock.", 640, 276)

	const cell, top, row, col = 31.0, 46.0, 1, 2
	paper := color.Color(white)
	block := func(x float64, letter string, lit func(i, j int) bool, tint color.Color, name, where string) {
		s.grid(point{x, top}, cell, 4, 4,
			func(i, j int) string { return fmt.Sprintf("*%s*_{%d%d}", letter, i+1, j+1) },
			func(i, j int) color.Color {
				if lit(i, j) {
					return tint
				}
				return paper
			})
		s.heading(point{x + 2*cell, top - 12}, name)
		s.text(point{x + 2*cell, top + 4*cell + 24}, middle, 13, inkSoft, where)
	}
	element := func(i, j int) bool { return i == row && j == col }
	block(23, "d", element, tintHigh, "D", "binary16 or 32\nin *t*_{FMA}")
	block(187, "a", func(i, _ int) bool { return i == row }, tintLow, "A", "binary16\nin *t*_{low}")
	block(329, "b", func(_, j int) bool { return j == col }, tintLow, "B", "binary16\nin *t*_{low}")
	block(493, "c", element, tintHigh, "C", "binary16 or 32\nin *t*_{high}")
	mid := top + 2*cell
	s.text(point{167, mid}, middle, 22, inkDark, "=")
	s.text(point{320, mid}, middle, 22, inkDark, "·")
	s.text(point{473, mid}, middle, 22, inkDark, "+")

	s.text(point{320, 248}, middle, schemeText, inkDark,
		"*d*_{23} = *c*_{23} + *a*_{21}*b*_{13} + *a*_{22}*b*_{23} + *a*_{23}*b*_{33} + *a*_{24}*b*_{43}:"+
			"   products in *t̃*, exact;  sum in *t̄*")
	return s
}

// FigureTensorCoreKernel draws Figure 4 of the paper: an inner product of
// length n = q b is computed by q calls of the kernel
//
//	z_i = z_{i-1} + Σ_{j=1}^{b} x_j y_j,
//
// each of which takes the sum so far and the next b products.
func FigureTensorCoreKernel() *Schematic {
	s := newSchematic("fig4-tensor-core-kernel",
		"An inner product of length n runs through the kernel q = n/b times.",
		"Each pass adds b exact products to the sum "+
			"so far, in the accumulator's precision, and rounds its result to the output's. Drawn by viz.FigureTensorCoreKernel.", 640, 264)

	const (
		cell, left   = 21.0, 92.0
		rowX, rowY   = 40.0, 74.0
		top, bottom  = 138.0, 194.0
		mid          = (top + bottom) / 2
		first, dots  = left, left + 298
		second, last = left + 140, left + 372
	)
	width := 4 * cell
	for _, r := range []struct {
		y    float64
		name string
	}{{rowX, "*x*"}, {rowY, "*y*"}} {
		s.text(point{left - 18, r.y + cell/2}, end, schemeText, inkDark, r.name)
		for _, x := range []float64{first, second, last} {
			s.grid(point{x, r.y}, cell, 1, 4, func(int, int) string { return "" }, func(int, int) color.Color { return tintLow })
		}
		s.text(point{dots, r.y + cell/2}, middle, 18, inkDark, "⋯")
	}
	s.brace(point{left, rowX - 6}, point{left + width, rowX - 6})
	s.text(point{left + width/2, rowX - 26}, middle, schemeNote, inkSoft, "*b* elements in *t*_{low}")

	pass := func(x float64, index string) (out point) {
		n := box{x - 8, top, x + width + 8, bottom}
		s.arrow(edge, Solid, point{x + width/2, rowY + cell + 2}, point{x + width/2, top})
		s.node(n, 6, tintExact, "+ Σ *x*_{*j*} *y*_{*j*}")
		s.text(point{x + width/2, bottom + 15}, middle, schemeNote, inkSoft, "pass "+index)
		return point{n.x1, mid}
	}
	s.text(point{left - 40, mid}, end, schemeText, inkDark, "*z*_{0} = 0")
	s.arrow(edge, Solid, point{left - 34, mid}, point{first - 8, mid})
	out := pass(first, "1")
	s.arrow(edge, Solid, out, point{second - 8, mid})
	s.text(point{(out.x + second - 8) / 2, mid - 14}, middle, schemeText, inkDark, "*z*_{1}")
	out = pass(second, "2")
	s.arrow(edge, Solid, out, point{dots - 26, mid})
	s.text(point{(out.x + dots - 26) / 2, mid - 14}, middle, schemeText, inkDark, "*z*_{2}")
	s.text(point{dots, mid}, middle, 18, inkDark, "⋯")
	s.arrow(edge, Solid, point{dots + 24, mid}, point{last - 8, mid})
	s.text(point{(dots + 24 + last - 8) / 2, mid - 14}, middle, schemeText, inkDark, "*z*_{*q*−1}")
	out = pass(last, "*q*")
	s.arrow(edge, Solid, out, point{out.x + 34, mid})
	s.text(point{out.x + 41, mid}, start, schemeText, inkDark, "*z*_{*q*}")

	s.text(point{320, 242}, middle, 13, inkSoft,
		"products in *t̃*: exact      sums in *t̄*: |*δ*| ≤ *ū*, *b* times      output in *t*_{FMA}: |*η*| ≤ *u*_{FMA}, once")
	return s
}
