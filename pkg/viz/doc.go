// Package viz draws figures: charts, tables and schematics. Each figure is a
// value that contains its name, its caption and its data.
//
// A figure is described once and written in four forms. SVG is for pages and
// for comparison with diff: coordinates have two decimals, the file contains no
// date, and two runs give the same bytes. PNG is the same drawing at two pixels
// per unit. CSV contains the numbers that are drawn. A chart is also available
// as an option object of Apache ECharts, for readers who want to point and
// zoom; the package contains that library, so a page loads nothing from a
// network.
//
//	c := viz.NewChart("dot-error", "No error comes near the bound.", "binary16, n = 1024.")
//	p := c.Panel("", viz.Axis{Label: "relative error", Log: true}, viz.Axis{Label: "F", Max: 1})
//	p.EDF(viz.Series{Label: "observed", Color: viz.Black}, errs)
//	p.Vertical(viz.Series{Label: "γ₁₀₂₄", Color: viz.Vermilion, Style: viz.Dashed}, bound)
//	svg, err := c.SVG()
//
// # Rules of the drawings
//
// Each colour denotes the same method in every figure (see the variables), and
// colour is never the only distinction: observations are solid and bounds are
// dashed, and each curve has its name beside it. The package places the labels.
// A label that finds no free place moves to a row above the panel, so that no
// two labels overlap. Logarithmic axes have a tick at every decade. There is no
// box around a panel and no title of the figure in the drawing; the caption
// states the finding first.
//
// # Text
//
// Labels are plain Unicode with three marks for mathematical text: *x* is
// italic, _{low} is a subscript and ^{2} a superscript:
//
//	"*t*_{low}"   "10^{−5}"   "|*d̂* − *d*| / |*d*|"
//
// # Errors
//
// A mistake of the caller, such as an empty sample, NaN or a logarithmic axis
// whose range includes zero, panics with the name of the argument and its
// value. A failure that the caller cannot prevent, such as one of an encoder,
// is returned as an error.
//
// # Libraries
//
// The package vg of gonum/plot places and paints glyphs (vgimg, font), and
// [Chart.Plot] returns a chart as a gonum/plot with axes and legend. go-echarts
// stores the options of interactive charts; this package sets their axes and
// series. This package itself draws
//
//   - labels beside their curves, without overlap: neither library has them,
//     and a legend draws the eye away from the curve;
//   - ticks at 1, 2 and 5 times a power of ten, with labels such as 10⁻⁵, whose
//     raised minus gonum's fonts lack;
//   - SVG whose bytes depend on the data alone, so that figures can be compared
//     byte by byte: the last digits of vgsvg's output differ between machines;
//   - empirical distributions reduced to the steps that are visible, and braces
//     and grids.
package viz
