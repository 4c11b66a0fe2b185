package viz_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/pkg/viz"
)

// Errors of an experiment, artificial.
var errs = []float64{0, 2e-9, 3e-8, 3e-8, 5e-8}

// The empirical distribution function of the forward error and its bound: the
// observation is solid and black, the bound dashed in the colour of its method.
func Example() {
	c := viz.NewChart("mac", "The bound is attained.", "binary32, n = 5, no seed, emulated.")
	p := c.Panel("",
		viz.Axis{Label: "Relative forward error  |*d̂* − *d*| / |*d*|", Log: true, Min: 1e-11, Max: 1e-6},
		viz.Axis{Label: "*F*"})
	p.EDF(viz.Series{Label: "observed", Color: viz.Black}, errs)
	p.Vertical(viz.Series{Label: "DBEA", Color: viz.Vermilion, Style: viz.Dashed}, 6e-8)

	svg, err := c.SVG()
	fmt.Println(strings.Contains(string(svg), ">observed<"), strings.Contains(string(svg), "#D55E00"), err)
	fmt.Println(viz.Caption(c))
	// Output:
	// true true <nil>
	// The bound is attained. binary32, n = 5, no seed, emulated. Not on the axis: observed: 1 of 5 are exactly zero.
}

func ExampleFigure() {
	for _, f := range []viz.Figure{addition(), viz.NewTable("formats", "binary64 holds 53 bits.", "", []string{"Format"})} {
		fmt.Println(f.Name())
	}
	// Output:
	// addition
	// formats
}

func ExampleCaption() {
	t := viz.NewTable("t", "VIBEA is tighter than DBEA by 13.3×.", "H100, seed 1.", []string{"n"})
	fmt.Println(viz.Caption(t))
	// Output: VIBEA is tighter than DBEA by 13.3×. H100, seed 1.
}

func ExampleChart_Finding() {
	c := viz.NewChart("growth", "The bound ends where n u = 1.", "binary16.")
	fmt.Println(c.Finding())
	// Output: The bound ends where n u = 1.
}

func ExampleChart_Details() {
	c := viz.NewChart("growth", "The bound ends where n u = 1.", "binary16.")
	fmt.Println(c.Details())
	// Output: binary16.
}

// EDF draws at each distinct sample the fraction of samples that are at most
// that sample.
func ExamplePanel_EDF() {
	c := viz.NewChart("edf", "Two of four samples are 2 at most.", "")
	p := c.Panel("", viz.Axis{Label: "t"}, viz.Axis{Label: "F"})
	p.EDF(viz.Series{Label: "observed"}, []float64{3, 1, 2, 3})
	csv, _ := c.CSV()
	fmt.Print(string(csv))
	// Output:
	// panel,series,kind,x,y,text
	// 1,observed,edf,1,0.25,
	// 1,observed,edf,2,0.5,
	// 1,observed,edf,3,1,
}

// Exceedance draws the fraction of samples that are greater.
func ExamplePanel_Exceedance() {
	c := viz.NewChart("tail", "One sample in four exceeds 2.", "")
	p := c.Panel("", viz.Axis{Label: "t"}, viz.Axis{Label: "1 − F"})
	p.Exceedance(viz.Series{Label: "observed"}, []float64{1, 2, 2, 8})
	p.Horizontal(viz.Series{Label: "1 − confidence", Color: viz.Grey}, 0.5)
	csv, _ := c.CSV()
	fmt.Print(string(csv))
	// Output:
	// panel,series,kind,x,y,text
	// 1,observed,exceedance,1,0.75,
	// 1,observed,exceedance,2,0.25,
	// 1,observed,exceedance,8,0,
	// 1,1 − confidence,horizontal,,0.5,
}

// The line of a bound that ceases to exist ends in an open circle.
func ExamplePanel_Line() {
	c := viz.NewChart("growth", "The bound ends where n u = 1.", "")
	p := c.Panel("", viz.Axis{Label: "*n*", Log: true}, viz.Axis{Label: "γ", Log: true})
	p.Line(viz.Series{Label: "*γₙ*", Color: viz.Vermilion, Style: viz.Dashed},
		[]float64{1, 10, 100}, []float64{0.01, 0.11, math.Inf(1)})
	p.Points(viz.Series{Label: "measured"}, []float64{1, 10}, []float64{0.005, 0.02})
	p.Note(10, 0.05, "5.5×")
	svg, _ := c.SVG()
	fmt.Println(strings.Count(string(svg), `fill="#FFFFFF" stroke="#D55E00"`), "open circle")
	// Output: 1 open circle
}

func ExamplePanel_Bars() {
	c := viz.NewChart("rates", "MPFMA does twice the work.", "")
	p := c.Panel("", viz.Axis{Label: "Rate [GFlop/s]"}, viz.Axis{Label: "Variant"})
	p.Bars(viz.Series{Label: "measured", Color: viz.SkyBlue}, []string{"FMA", "MPFMA"}, []float64{40, 80})
	csv, _ := c.CSV()
	fmt.Print(string(csv))
	// Output:
	// panel,series,kind,x,y,text
	// 1,measured,bars,40,,FMA
	// 1,measured,bars,80,,MPFMA
}

// A bound outside the range of the axis is labelled at its edge.
func ExamplePanel_Vertical() {
	c := viz.NewChart("beyond", "γ does not exist.", "")
	p := c.Panel("", viz.Axis{Label: "t", Log: true}, viz.Axis{Label: "F"})
	p.EDF(viz.Series{Label: "observed"}, []float64{1, 2})
	p.Vertical(viz.Series{Label: "γ₃₂₇₆₇", Color: viz.Vermilion, Style: viz.Dashed}, math.Inf(1))
	svg, _ := c.SVG()
	fmt.Println(strings.Contains(string(svg), "γ₃₂₇₆₇ = ∞ →"))
	// Output: true
}

func ExampleTable() {
	t := viz.NewTable("formats", "The unit roundoff halves with every bit.", "", []string{"Format", "*p*", "*u*"})
	t.Row("binary16", "11", "2^{−11}")
	t.Row("binary32", "24", "2^{−24}")
	fmt.Print(t.Markdown())
	// Output:
	// | Format | <i>p</i> | <i>u</i> |
	// | --- | ---: | ---: |
	// | binary16 | 11 | 2<sup>−11</sup> |
	// | binary32 | 24 | 2<sup>−24</sup> |
}

func ExampleTable_HTML() {
	t := viz.NewTable("t", "One row.", "", []string{"n"})
	t.Row("1")
	fmt.Println(strings.Contains(t.HTML(), `text-align:right`))
	// Output: true
}

// A schematic's CSV lists its parts.
func ExampleSchematic() {
	csv, _ := addition().CSV()
	fmt.Println(strings.Join(strings.Split(string(csv), "\n")[:3], "\n"))
	// Output:
	// kind,x,y,w,h,text
	// box,20,40,60,40,*a* + *b*
	// text,30.95,53.84,38.1,14.56,*a* + *b*
}

// The option objects contain the data as numbers.
func ExampleChart_ECharts() {
	c := viz.NewChart("edf", "Two samples.", "")
	p := c.Panel("", viz.Axis{Label: "t"}, viz.Axis{Label: "F"})
	p.EDF(viz.Series{Label: "observed"}, []float64{1, 2})
	options, err := c.ECharts()
	var o struct {
		Series []struct {
			Name, Type, Step string
			Data             []struct{ Value []float64 }
		}
	}
	if err == nil {
		err = json.Unmarshal(options[0], &o)
	}
	fmt.Println(o.Series, err)
	// Output: [{observed line end [{[1 0]} {[1 0.5]} {[2 1]}]}] <nil>
}

// Whoever shows a figure and stores it draws it once.
func ExampleDraw() {
	d, err := viz.Draw(addition())
	if err != nil {
		panic(err)
	}
	element, err := d.HTML("figure-2")
	stored := []string{"data:image/png;base64," + base64.StdEncoding.EncodeToString(d.PNG), "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.SVG)}
	fmt.Println(strings.Contains(element, stored[0]), strings.Contains(element, stored[1]), err)
	// Output: true true <nil>
}

// A page contains the script once and any number of figures.
func ExampleHTML() {
	page := viz.Script()
	for i, f := range []viz.Figure{addition(), addition()} {
		h, err := viz.HTML(f, fmt.Sprintf("figure-%d", i))
		if err != nil {
			panic(err)
		}
		page += h
	}
	fmt.Println(strings.Count(page, "<figure"), strings.Count(page, "src=\"data:image/png"), strings.Count(page, "src=\"http"))
	// Output: 2 2 0
}
