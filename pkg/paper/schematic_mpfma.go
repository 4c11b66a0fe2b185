package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// FigureMPFMA draws Figure 2 of the paper: the mixed-precision fused
// multiply-add z = a×b + c, with the number system of each stage and the bound
// on its rounding error.
func FigureMPFMA() *viz.Schematic {
	s := viz.NewSchematic("fig2-mpfma",
		"A mixed-precision FMA rounds twice at most: the sum, by δ, and the output, by η.",
		"Figure 2 of the paper. The factors a and b are in low precision, and their product is exact. Above each "+
			"stage stands its format, below it what is lost there.", 640, 286)

	a, b, c := viz.Rect(28, 46, 124, 86), viz.Rect(28, 126, 124, 166), viz.Rect(28, 206, 124, 246)
	s.Node(a, 5, tintLow, "*a*")
	s.Node(b, 5, tintLow, "*b*")
	s.Node(c, 5, tintHigh, "*c*")
	s.Text(viz.At(76, 33), viz.Middle, schemeNote, viz.SoftInk, "*t*_{low}")
	s.Text(viz.At(76, 113), viz.Middle, schemeNote, viz.SoftInk, "*t*_{low}")
	s.Text(viz.At(76, 193), viz.Middle, schemeNote, viz.SoftInk, "*t*_{high}")

	times, plus, round := viz.At(190, 106), viz.At(362, 106), viz.Rect(448, 84, 516, 128)
	s.Arrow(viz.Edge, viz.Solid, viz.At(124, 66), viz.At(158, 66), viz.At(190-13, 106-13))
	s.Arrow(viz.Edge, viz.Solid, viz.At(124, 146), viz.At(158, 146), viz.At(190-13, 106+13))
	s.Operator(times, 18, "×")
	product := viz.Rect(236, 86, 316, 126)
	s.Arrow(viz.Edge, viz.Solid, viz.At(208, 106), viz.At(236, 106))
	s.Node(product, 5, tintExact, "*a* × *b*")
	s.Arrow(viz.Edge, viz.Solid, viz.At(316, 106), viz.At(344, 106))
	s.Operator(plus, 18, "+")
	s.Arrow(viz.Edge, viz.Solid, viz.At(124, 226), viz.At(362, 226), viz.At(362, 124))
	s.Arrow(viz.Edge, viz.Solid, viz.At(380, 106), viz.At(448, 106))
	s.Node(round, 5, viz.White, "round")
	z := viz.Rect(548, 86, 620, 126)
	s.Arrow(viz.Edge, viz.Solid, viz.At(516, 106), viz.At(548, 106))
	s.Node(z, 5, tintHigh, "*z*")

	s.Text(viz.At(276, 73), viz.Middle, schemeNote, viz.SoftInk, "*t̃*")
	s.Text(viz.At(362, 73), viz.Middle, schemeNote, viz.SoftInk, "*t̄*")
	s.Text(viz.At(584, 73), viz.Middle, schemeNote, viz.SoftInk, "*t*_{FMA}")
	s.Text(viz.At(276, 148), viz.Middle, schemeNote, viz.SoftInk, "exact")
	s.Text(viz.At(374, 148), viz.Start, schemeNote, viz.SoftInk, "|*δ*| ≤ *ū*")
	s.Text(viz.At(482, 148), viz.Middle, schemeNote, viz.SoftInk, "|*η*| ≤ *u*_{FMA}")
	s.Text(viz.At(76, 268), viz.Middle, schemeNote, viz.SoftInk, "inputs")
	s.Text(viz.At(584, 148), viz.Middle, schemeNote, viz.SoftInk, "output")
	return s
}
