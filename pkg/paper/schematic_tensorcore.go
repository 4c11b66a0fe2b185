package paper

import (
	"fmt"
	"image/color"

	"github.com/roundofflab/roundoff/pkg/viz"
)

// FigureTensorCoreBlock draws Figure 3 of the paper: a tensor core computes D =
// A B + C for blocks of 4 × 4 elements, 64 multiply-adds at once. One element
// of D and the elements that it depends on are shaded.
func FigureTensorCoreBlock() *viz.Schematic {
	s := viz.NewSchematic("fig3-tensor-core-block",
		"A tensor core multiplies 4 × 4 blocks and adds a third: 16 inner products of length 4, 64 multiply-adds.",
		"Figure 3 of the paper. Tinted: one element of D and the numbers it is made of.", 640, 276)

	const cell, top, row, col = 31.0, 46.0, 1, 2
	paper := color.Color(viz.White)
	block := func(x float64, letter string, lit func(i, j int) bool, tint color.Color, name, where string) {
		s.Grid(viz.At(x, top), cell, 4, 4,
			func(i, j int) string { return fmt.Sprintf("*%s*_{%d%d}", letter, i+1, j+1) },
			func(i, j int) color.Color {
				if lit(i, j) {
					return tint
				}
				return paper
			})
		s.Heading(viz.At(x+2*cell, top-12), name)
		s.Text(viz.At(x+2*cell, top+4*cell+24), viz.Middle, 13, viz.SoftInk, where)
	}
	element := func(i, j int) bool { return i == row && j == col }
	block(23, "d", element, tintHigh, "D", "binary16 or 32\nin *t*_{FMA}")
	block(187, "a", func(i, _ int) bool { return i == row }, tintLow, "A", "binary16\nin *t*_{low}")
	block(329, "b", func(_, j int) bool { return j == col }, tintLow, "B", "binary16\nin *t*_{low}")
	block(493, "c", element, tintHigh, "C", "binary16 or 32\nin *t*_{high}")
	mid := top + 2*cell
	s.Text(viz.At(167, mid), viz.Middle, 22, viz.Ink, "=")
	s.Text(viz.At(320, mid), viz.Middle, 22, viz.Ink, "·")
	s.Text(viz.At(473, mid), viz.Middle, 22, viz.Ink, "+")

	s.Text(viz.At(320, 248), viz.Middle, schemeText, viz.Ink,
		"*d*_{23} = *c*_{23} + *a*_{21}*b*_{13} + *a*_{22}*b*_{23} + *a*_{23}*b*_{33} + *a*_{24}*b*_{43}:"+
			"   products in *t̃*, exact;  sum in *t̄*")
	return s
}

// FigureTensorCoreKernel draws Figure 4 of the paper: an inner product of
// length K = q b is computed in q passes
//
//	z_i = z_{i-1} + Σ_{j=1}^{b} x_j y_j,
//
// each of which adds the next b products to the running sum.
func FigureTensorCoreKernel() *viz.Schematic {
	s := viz.NewSchematic("fig4-tensor-core-kernel",
		"An inner product of length K = qb passes through the kernel q times, with b of its terms at a time.",
		"Figure 4 of the paper, which writes n for K. Each pass adds b exact products to the sum "+
			"so far, in the accumulator's precision, and rounds its result to the output's.", 640, 264)

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
		s.Text(viz.At(left-18, r.y+cell/2), viz.End, schemeText, viz.Ink, r.name)
		for _, x := range []float64{first, second, last} {
			s.Grid(viz.At(x, r.y), cell, 1, 4, func(int, int) string { return "" }, func(int, int) color.Color { return tintLow })
		}
		s.Text(viz.At(dots, r.y+cell/2), viz.Middle, 18, viz.Ink, "⋯")
	}
	s.Brace(viz.At(left, rowX-6), viz.At(left+width, rowX-6))
	s.Text(viz.At(left+width/2, rowX-26), viz.Middle, schemeNote, viz.SoftInk, "*b* elements in *t*_{low}")

	pass := func(x float64, index string) (out viz.Point) {
		n := viz.Rect(x-8, top, x+width+8, bottom)
		s.Arrow(viz.Edge, viz.Solid, viz.At(x+width/2, rowY+cell+2), viz.At(x+width/2, top))
		s.Node(n, 6, tintExact, "+ Σ *x*_{*j*} *y*_{*j*}")
		s.Text(viz.At(x+width/2, bottom+15), viz.Middle, schemeNote, viz.SoftInk, "pass "+index)
		return viz.At(n.X1, mid)
	}
	s.Text(viz.At(left-40, mid), viz.End, schemeText, viz.Ink, "*z*_{0} = 0")
	s.Arrow(viz.Edge, viz.Solid, viz.At(left-34, mid), viz.At(first-8, mid))
	out := pass(first, "1")
	s.Arrow(viz.Edge, viz.Solid, out, viz.At(second-8, mid))
	s.Text(viz.At((out.X+second-8)/2, mid-14), viz.Middle, schemeText, viz.Ink, "*z*_{1}")
	out = pass(second, "2")
	s.Arrow(viz.Edge, viz.Solid, out, viz.At(dots-26, mid))
	s.Text(viz.At((out.X+dots-26)/2, mid-14), viz.Middle, schemeText, viz.Ink, "*z*_{2}")
	s.Text(viz.At(dots, mid), viz.Middle, 18, viz.Ink, "⋯")
	s.Arrow(viz.Edge, viz.Solid, viz.At(dots+24, mid), viz.At(last-8, mid))
	s.Text(viz.At((dots+24+last-8)/2, mid-14), viz.Middle, schemeText, viz.Ink, "*z*_{*q*−1}")
	out = pass(last, "*q*")
	s.Arrow(viz.Edge, viz.Solid, out, viz.At(out.X+34, mid))
	s.Text(viz.At(out.X+41, mid), viz.Start, schemeText, viz.Ink, "*z*_{*q*}")

	s.Text(viz.At(320, 242), viz.Middle, 13, viz.SoftInk,
		"products in *t̃*: exact      sums in *t̄*: |*δ*| ≤ *ū*, *b* times      output in *t*_{FMA}: |*η*| ≤ *u*_{FMA}, once")
	return s
}
