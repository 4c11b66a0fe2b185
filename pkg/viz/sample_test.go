package viz

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
)

// The figures that the structural tests check, drawn from fixed seeds.

var (
	relativeError = Axis{Label: "Relative forward error  |*d̂* − *d*| / |*d*|", Log: true, Min: 1e-11, Max: 1e-2}
	distributionF = Axis{Label: "Empirical distribution function  *F*(*t*)"}
	observed      = Series{Label: "observed"}
	dbea          = Series{Label: "DBEA", Color: Vermilion, Style: Dashed}
	vibea         = Series{Label: "VIBEA, 99 %", Color: Blue, Style: Dashed}
)

// logNormal returns n log-normal samples around 10^center.
func logNormal(n int, center, spread float64) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Pow(10, center+spread*rng.NormFloat64())
	}
	return x
}

func sampleMAC() *Chart {
	c := NewChart("mac", "DBEA is tighter than VIBEA.", "U[1, 2], seed 1.")
	for i, name := range []string{"Without FMA", "With FMA", "MPFMA"} {
		center := []float64{-8, -8.2, -4}[i]
		p := c.Panel(name, relativeError, distributionF)
		p.EDF(observed, append(logNormal(20000, center, 0.4), 0, 0))
		p.Vertical(dbea, math.Pow(10, center+1.2))
		p.Vertical(vibea, math.Pow(10, center+[]float64{1.6, 1.2, 1.7}[i]))
	}
	return c
}

// sampleBounds returns a chart with bounds that vary with the sample, near the
// right edge.
func sampleBounds() *Chart {
	c := NewChart("bounds", "DBEA is tighter than VIBEA, sample by sample.", "")
	p := c.Panel("With MPFMA", relativeError, distributionF)
	p.EDF(observed, logNormal(2000, -4, 0.3))
	p.EDF(dbea, logNormal(2000, -3.2, 0.05))
	p.EDF(vibea, logNormal(2000, -2.8, 0.05))
	return c
}

func sampleMatmul() *Chart {
	c := NewChart("matmul", "VIBEA is tighter by an order of magnitude.", "H100, seed 1.")
	p := c.Panel("", Axis{Label: "Relative forward error", Log: true}, distributionF)
	p.EDF(observed, logNormal(8192, -6, 0.7))
	p.EDF(vibea, logNormal(8192, -1.5, 0.7))
	p.EDF(dbea, logNormal(8192, -0.5, 0.7))
	p.Note(1e-3, 0.3, "13.3×")
	return c
}

func sampleTail() *Chart {
	c := NewChart("tail", "One sample in a hundred exceeds the bound.", "Seed 1.")
	p := c.Panel("", relativeError, Axis{Label: "1 − *F*(*t*)", Log: true})
	p.Exceedance(observed, logNormal(5000, -5, 0.3))
	p.Horizontal(Series{Label: "1 − confidence", Color: Grey, Style: Dotted}, 0.01)
	p.Vertical(vibea, 3e-5)
	p.Vertical(Series{Label: "γ₃₂₇₆₇", Color: Vermilion, Style: Dashed}, math.Inf(1))
	return c
}

func sampleGrowth() *Chart {
	c := NewChart("growth", "The deterministic bound ends where n u = 1.", "")
	p := c.Panel("", Axis{Label: "*n*", Log: true, Min: 1, Max: 1e9}, Axis{Label: "bound", Log: true, Min: 1e-16, Max: 1e3})
	for i, name := range []string{"binary16", "binary32", "binary64"} {
		u := math.Ldexp(1, -[]int{11, 24, 53}[i])
		var n, g, h []float64
		for k := 0.0; k <= 9; k += 0.125 {
			m := math.Pow(10, k)
			n, h = append(n, m), append(h, math.Expm1(3*math.Sqrt(m)*u+m*u*u/(1-u)))
			if m*u < 1 {
				g = append(g, m*u/(1-m*u))
			} else {
				g = append(g, math.Inf(1))
			}
		}
		p.Line(Series{Label: "*γₙ* " + name, Color: Vermilion, Style: Dashed}, n, g)
		p.Line(Series{Label: "*γ̃ₙ* " + name, Color: Blue, Style: Dotted}, n, h)
	}
	p.Horizontal(Series{Label: "no digits left", Color: Grey}, 1)
	return c
}

func sampleRates() *Chart {
	c := NewChart("rates", "MPFMA does twice the work.", "")
	p := c.Panel("", Axis{Label: "Rate [GFlop/s]"}, Axis{Label: "Variant"})
	rows := []string{"MAC without FMA", "MAC with FMA", "MPFMA"}
	p.Bars(Series{Label: "measured", Color: SkyBlue}, rows, []float64{41.2, 39.8, 83})
	p.Bars(Series{Label: "paper", Color: Orange}, rows, []float64{40, 40, 1e-6})
	return c
}

// sampleCrowd returns a chart with more lines in one place than there is room
// for labels.
func sampleCrowd() *Chart {
	c := NewChart("crowd", "Twenty lines end together.", "")
	p := c.Panel("A", Axis{Label: "x"}, Axis{Label: "a title of the y axis so long that it must be broken in two lines"})
	q := c.Panel("B", Axis{Label: "x"}, Axis{Label: "y"})
	for i := range 20 {
		name := "line " + string(rune('a'+i))
		y := 1 + float64(i)/100
		p.Line(Series{Label: name, Color: Vermilion, Style: Dashed}, []float64{0, 1, 2}, []float64{0, y, y})
		q.Vertical(Series{Label: name, Color: Blue, Style: Dotted}, 1+float64(i)/50)
	}
	q.Points(Series{Label: "points", Color: Purple}, []float64{0, 1, 2}, []float64{-1, 0, 1})
	return c
}

func sampleTable() *Table {
	t := NewTable("formats", "binary64 holds 53 bits.", "IEEE 754-2019.", []string{"Format", "*p*", "*u*", "Use"})
	t.Row("binary16", "11", "4.88×10⁻⁴", "the factors *a* and *b* of the MPFMA, whose product is exact in binary32 <&>")
	t.Row("binary64", "53", "1.11×10⁻¹⁶", "reference")
	return t
}

func sampleCharts() []*Chart {
	return []*Chart{sampleMAC(), sampleBounds(), sampleMatmul(), sampleTail(), sampleGrowth(), sampleRates(), sampleCrowd()}
}

// sampleSchematic returns a schematic with every kind of part.
func sampleSchematic() *Schematic {
	s := NewSchematic("parts", "All parts of a schematic.", "Drawn for tests.", 640, 300)
	s.Region(Box{20, 40, 200, 260}, 50, SkyBlue, "inputs")
	s.Heading(Point{110, 30}, "Inputs")
	s.Dot(Point{80, 120})
	s.Text(Point{80, 145}, Middle, 14, Ink, "*x* + Δ*x*\n*t*_{low}")
	s.Arrow(Edge, Dashed, Point{90, 120}, Point{300, 120}, Point{300, 160})
	s.Operator(Point{300, 180}, 18, "×")
	s.Node(Box{360, 160, 440, 200}, 5, White, "*a* × *b*")
	s.Line(Ink, 1.6, Dotted, Point{318, 180}, Point{360, 180})
	s.Brace(Point{360, 220}, Point{440, 220})
	s.Grid(Point{480, 60}, 30, 3, 4, func(i, j int) string { return fmt.Sprintf("*a*_{%d%d}", i, j) }, func(i, j int) color.Color { return White })
	s.Text(Point{480, 190}, Start, 12, SoftInk, "elements")
	s.Text(Point{630, 230}, End, 12, SoftInk, "at the right")
	return s
}

func sampleFigures() []Figure {
	figs := []Figure{sampleTable(), sampleSchematic()}
	for _, c := range sampleCharts() {
		figs = append(figs, c)
	}
	return figs
}

// sheetOf returns the sheet on which a figure is drawn.
func sheetOf(f Figure) *sheet {
	switch f := f.(type) {
	case *Chart:
		return f.draw()
	case *Table:
		return f.draw()
	case *Schematic:
		return f.sheet
	}
	panic("no sheet")
}
