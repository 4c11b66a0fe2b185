package viz

// FigureErrors draws Figure 1 of the paper: the exact function φ and its
// computed stand-in φ̂ between the space of inputs and the space of outputs, the
// forward error on the right and the backward error on the left.
func FigureErrors() *Schematic {
	s := newSchematic("fig1-errors",
		"The forward error is the distance of the results; the backward error is the distance to the nearest input "+
			"for which the computed result is exact.",
		"Solid: exact; dashed: computed. Drawn by viz.FigureErrors.", 640, 306)

	in, out := box{24, 44, 264, 252}, box{376, 44, 616, 252}
	s.sheet.rect(in, 60, fill(tintHigh))
	s.note("region", in, "input space")
	s.sheet.rect(out, 60, fill(tintLow))
	s.note("region", out, "output space")
	s.text(point{144, 24}, middle, schemeText, inkDark, "Input space")
	s.text(point{496, 24}, middle, schemeText, inkDark, "Output space")

	x, xd := point{196, 98}, point{196, 204}
	y, yd := point{444, 98}, point{444, 204}
	s.arrow(inkDark, Solid, point{x.x + 10, x.y}, point{y.x - 10, y.y})
	s.arrow(inkDark, Dashed, point{x.x + 9, x.y + 4}, point{yd.x - 8, yd.y - 7})
	s.arrow(inkDark, Solid, point{xd.x + 10, xd.y}, point{yd.x - 10, yd.y})
	for _, p := range []point{x, xd, y, yd} {
		s.dot(p)
	}

	s.text(point{320, 83}, middle, schemeText, inkDark, "*φ*")
	s.text(point{337, 138}, middle, schemeText, inkDark, "*φ̂*")
	s.text(point{320, 222}, middle, schemeText, inkDark, "*φ*")
	s.text(point{196, 78}, middle, schemeText, inkDark, "*x*")
	s.text(point{196, 226}, middle, schemeText, inkDark, "*x* + Δ*x*")
	s.text(point{444, 78}, middle, schemeText, inkDark, "*y* = *φ*(*x*)")
	s.text(point{434, 226}, start, schemeText, inkDark, "*ŷ* = *φ̂*(*x*) = *φ*(*x* + Δ*x*)")

	s.brace(point{178, 202}, point{178, 100})
	s.text(point{160, 151}, end, schemeText, inkDark, "backward\nerror")
	s.brace(point{462, 100}, point{462, 202})
	s.text(point{480, 151}, start, schemeText, inkDark, "forward\nerror")

	s.line(inkDark, 1.6, Solid, point{224, 284}, point{260, 284})
	s.text(point{268, 284}, start, 13, inkSoft, "exact")
	s.line(inkDark, 1.6, Dashed, point{334, 284}, point{370, 284})
	s.text(point{378, 284}, start, 13, inkSoft, "computed")
	return s
}
