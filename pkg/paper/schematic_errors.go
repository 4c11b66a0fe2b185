package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// FigureErrors draws Figure 1 of the paper: the exact function φ and the
// computed function φ̂ from the space of inputs to the space of outputs, with
// the forward error on the right and the backward error on the left.
func FigureErrors() *viz.Schematic {
	s := viz.NewSchematic("fig1-errors",
		"One computation has two errors: the forward error lies between the results, the backward error between "+
			"the input and the nearest one for which the computed result is exact.",
		"Figure 1 of the paper. Solid: exact; dashed: computed.", 640, 306)

	in, out := viz.Rect(24, 44, 264, 252), viz.Rect(376, 44, 616, 252)
	s.Region(in, 60, tintHigh, "input space")
	s.Region(out, 60, tintLow, "output space")
	s.Text(viz.At(144, 24), viz.Middle, schemeText, viz.Ink, "Input space")
	s.Text(viz.At(496, 24), viz.Middle, schemeText, viz.Ink, "Output space")

	x, xd := viz.At(196, 98), viz.At(196, 204)
	y, yd := viz.At(444, 98), viz.At(444, 204)
	s.Arrow(viz.Ink, viz.Solid, viz.At(x.X+10, x.Y), viz.At(y.X-10, y.Y))
	s.Arrow(viz.Ink, viz.Dashed, viz.At(x.X+9, x.Y+4), viz.At(yd.X-8, yd.Y-7))
	s.Arrow(viz.Ink, viz.Solid, viz.At(xd.X+10, xd.Y), viz.At(yd.X-10, yd.Y))
	for _, p := range []viz.Point{x, xd, y, yd} {
		s.Dot(p)
	}

	s.Text(viz.At(320, 83), viz.Middle, schemeText, viz.Ink, "*φ*")
	s.Text(viz.At(337, 138), viz.Middle, schemeText, viz.Ink, "*φ̂*")
	s.Text(viz.At(320, 222), viz.Middle, schemeText, viz.Ink, "*φ*")
	s.Text(viz.At(196, 78), viz.Middle, schemeText, viz.Ink, "*x*")
	s.Text(viz.At(196, 226), viz.Middle, schemeText, viz.Ink, "*x* + Δ*x*")
	s.Text(viz.At(444, 78), viz.Middle, schemeText, viz.Ink, "*y* = *φ*(*x*)")
	s.Text(viz.At(434, 226), viz.Start, schemeText, viz.Ink, "*ŷ* = *φ̂*(*x*) = *φ*(*x* + Δ*x*)")

	s.Brace(viz.At(178, 202), viz.At(178, 100))
	s.Text(viz.At(160, 151), viz.End, schemeText, viz.Ink, "backward\nerror")
	s.Brace(viz.At(462, 100), viz.At(462, 202))
	s.Text(viz.At(480, 151), viz.Start, schemeText, viz.Ink, "forward\nerror")

	s.Line(viz.Ink, 1.6, viz.Solid, viz.At(224, 284), viz.At(260, 284))
	s.Text(viz.At(268, 284), viz.Start, 13, viz.SoftInk, "exact")
	s.Line(viz.Ink, 1.6, viz.Dashed, viz.At(334, 284), viz.At(370, 284))
	s.Text(viz.At(378, 284), viz.Start, 13, viz.SoftInk, "computed")
	return s
}
