// Package viz draws figures: charts, tables and schematics, each a value that
// knows its name, its caption and its data.
//
// A figure is described once and drawn four ways. SVG is for the page and for
// diff: coordinates have two decimals, there is no date in it, and two runs
// give the same bytes. PNG is the same drawing at two pixels per unit. CSV
// holds the numbers behind the drawing. A chart is besides that an option
// object of Apache ECharts, for readers who want to point and zoom; the library
// comes with the package, so nothing is loaded from a network.
//
//	c := viz.NewChart("dot-error", "No error comes near the bound.", "binary16, n = 1024.")
//	p := c.Panel("", viz.Axis{Label: "relative error", Log: true}, viz.Axis{Label: "F", Max: 1})
//	p.EDF(viz.Series{Label: "observed", Color: viz.Black}, errs)
//	p.Vertical(viz.Series{Label: "γ₁₀₂₄", Color: viz.Vermilion, Style: viz.Dashed}, bound)
//	svg, err := c.SVG()
//
// # Rules of the drawings
//
// One colour is one method in every figure (see the variables), and colour is
// never alone: a bound is dashed where an observation is solid, and a curve
// carries its name beside it. Labels are placed by the package; where no free
// place is left, a label moves to a row above the panel, so that no two labels
// overlap. Logarithmic axes mark decades. There is no box and no title inside;
// the caption belongs to the figure and says the finding first.
//
// # Text
//
// Labels are plain Unicode. Three marks are understood besides, as in running
// mathematical text: *x* sets x in italics, _{low} lowers, ^{2} raises:
//
//	"*t*_{low}"   "10^{−5}"   "|*d̂* − *d*| / |*d*|"
//
// # Errors
//
// A mistake of the caller, such as an empty sample, NaN or a logarithmic axis
// through zero, panics with the name of the argument and its value. What only
// the surroundings can spoil is an error.
//
// # Libraries
//
// gonum/plot's vg places and paints glyphs (vgimg, font), and [Chart.Plot]
// hands a chart over to gonum/plot, axes, legend and all. go-echarts holds the
// options of interactive charts, of which the axes and series are filled in
// here. Drawn by hand are
//
//   - labels beside their curves, without overlap: neither library has any, and
//     a legend takes the eye from the curve;
//   - ticks at 1, 2 and 5 times a decade, named 10⁻⁵, which gonum's fonts
//     cannot;
//   - SVG whose bytes depend on nothing but the data, so that a figure can be
//     compared byte by byte: vgsvg's differ between machines in their last
//     digits;
//   - empirical distributions thinned to what can be seen, and braces and
//     grids.
package viz
