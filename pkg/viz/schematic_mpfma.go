package viz

// FigureMPFMA draws Figure 2 of the paper: the mixed-precision fused
// multiply-add z = a×b + c, with the number system of every stage and the
// rounding error it may bring.
func FigureMPFMA() *Schematic {
	s := newSchematic("fig2-mpfma",
		"A mixed-precision FMA rounds twice at most.",
		"The factors a and b come in low precision, their product is exact, "+
			"the sum is rounded in the accumulator and once more for the output. Drawn by viz.FigureMPFMA.", 640, 286)

	a, b, c := box{28, 46, 124, 86}, box{28, 126, 124, 166}, box{28, 206, 124, 246}
	s.node(a, 5, tintLow, "*a*")
	s.node(b, 5, tintLow, "*b*")
	s.node(c, 5, tintHigh, "*c*")
	s.text(point{76, 33}, middle, schemeNote, inkSoft, "*t*_{low}")
	s.text(point{76, 113}, middle, schemeNote, inkSoft, "*t*_{low}")
	s.text(point{76, 193}, middle, schemeNote, inkSoft, "*t*_{high}")

	times, plus, round := point{190, 106}, point{362, 106}, box{448, 84, 516, 128}
	s.arrow(edge, Solid, point{124, 66}, point{158, 66}, point{190 - 13, 106 - 13})
	s.arrow(edge, Solid, point{124, 146}, point{158, 146}, point{190 - 13, 106 + 13})
	s.round(times, 18, "×")
	product := box{236, 86, 316, 126}
	s.arrow(edge, Solid, point{208, 106}, point{236, 106})
	s.node(product, 5, tintExact, "*a* × *b*")
	s.arrow(edge, Solid, point{316, 106}, point{344, 106})
	s.round(plus, 18, "+")
	s.arrow(edge, Solid, point{124, 226}, point{362, 226}, point{362, 124})
	s.arrow(edge, Solid, point{380, 106}, point{448, 106})
	s.node(round, 5, white, "round")
	z := box{548, 86, 620, 126}
	s.arrow(edge, Solid, point{516, 106}, point{548, 106})
	s.node(z, 5, tintHigh, "*z*")

	s.text(point{276, 73}, middle, schemeNote, inkSoft, "*t̃*")
	s.text(point{362, 73}, middle, schemeNote, inkSoft, "*t̄*")
	s.text(point{584, 73}, middle, schemeNote, inkSoft, "*t*_{FMA}")
	s.text(point{276, 148}, middle, schemeNote, inkSoft, "exact")
	s.text(point{374, 148}, start, schemeNote, inkSoft, "|*δ*| ≤ *ū*")
	s.text(point{482, 148}, middle, schemeNote, inkSoft, "|*δ*| ≤ *u*_{FMA}")
	s.text(point{76, 268}, middle, schemeNote, inkSoft, "inputs")
	s.text(point{584, 148}, middle, schemeNote, inkSoft, "output")
	return s
}
