package viz_test

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"

	"github.com/roundofflab/roundoff/pkg/viz"
	"gonum.org/v1/plot/vg"
)

// Two panels, one below the other, share the x axis.
func ExampleChart() {
	c := viz.NewChart("two", "The second grows faster. n = 1, 10, 100.", "")
	x := viz.Axis{Label: "n", Log: true}
	c.Panel("first", x, viz.Axis{Label: "y"}).Line(viz.Series{Label: "n"}, []float64{1, 10, 100}, []float64{1, 2, 3})
	c.Panel("second", x, viz.Axis{Label: "y"}).Line(viz.Series{Label: "n²"}, []float64{1, 10, 100}, []float64{1, 4, 9})
	svg, err := c.SVG()
	fmt.Println(strings.Contains(string(svg), ">first<"), strings.Contains(string(svg), ">second<"), err)
	// Output: true true <nil>
}

// Dots for computed values, a horizontal reference line, and a note placed
// where it covers nothing.
func ExamplePanel() {
	c := viz.NewChart("points", "One of three lies above u.", "")
	p := c.Panel("", viz.Axis{Label: "n"}, viz.Axis{Label: "error / u"})
	p.Points(viz.Series{Label: "computed"}, []float64{1, 2, 3}, []float64{0.2, 1.3, 0.4})
	p.Horizontal(viz.Series{Label: "u", Color: viz.Grey}, 1)
	p.Note(2, 1.3, "1.3×")
	csv, _ := c.CSV()
	fmt.Print(string(csv))
	// Output:
	// panel,series,kind,x,y,text
	// 1,computed,points,1,0.2,
	// 1,computed,points,2,1.3,
	// 1,computed,points,3,0.4,
	// 1,u,horizontal,,1,
	// 1,,note,2,1.3,1.3×
}

// A page needs the script once; Page returns a complete page.
func ExamplePage() {
	element, err := viz.HTML(addition(), "figure-2")
	page := string(viz.Page("Addition", "../index.html", element))
	fmt.Println(strings.HasPrefix(page, "<!doctype html>"), strings.Contains(page, "<h1>Addition</h1>"), strings.Count(page, "<figure"), err)
	// Output: true true 1 <nil>
}

// The script contains the whole library and loads nothing from a network.
func ExampleScript() {
	s := viz.Script()
	fmt.Println(len(s) > 500_000, strings.HasPrefix(s, "<script>"), strings.Contains(s, "<script src"))
	// Output: true true false
}

// A slider with three values, two of which work on a page without a kernel. One
// function draws the figure of every setting.
func ExampleExplorer() {
	e := viz.Explorer{
		Controls: []viz.Control{{Label: "n", Values: []string{"1", "2", "3"}, Kept: []int{0, 2}}},
		Draw: func(at []int) *viz.Chart {
			n := float64(at[0] + 1)
			c := viz.NewChart("square", fmt.Sprintf("%v² = %v.", n, n*n), "")
			c.Panel("", viz.Axis{Label: "n"}, viz.Axis{Label: "n²"}).Points(viz.Series{Label: "n²"}, []float64{n}, []float64{n * n})
			return c
		},
	}
	fmt.Println(e.Start(), e.Settings(), e.Has([]int{3}))
	fmt.Println(viz.Caption(e.Figure(1)))

	frame, err := e.Frame(false, 1) // what a kernel sends to the page
	fmt.Println(strings.HasPrefix(frame, `{"at":[1],`), err)
	page, err := e.HTML("square-1", "", "")
	fmt.Println(strings.Contains(page, "roundoffExplore"), err)
	// Output:
	// [0] [[0] [2]] false
	// 2² = 4.
	// true <nil>
	// true <nil>
}

func ExampleTable_Finding() {
	t := viz.NewTable("t", "VIBEA is tighter than DBEA by 13.3×.", "H100, seed 1.", []string{"n"})
	fmt.Println(t.Finding())
	// Output: VIBEA is tighter than DBEA by 13.3×.
}

func ExampleTable_Details() {
	t := viz.NewTable("t", "VIBEA is tighter than DBEA by 13.3×.", "H100, seed 1.", []string{"n"})
	fmt.Println(t.Details())
	// Output: H100, seed 1.
}

// addition is a schematic of c = a + b.
func addition() *viz.Schematic {
	s := viz.NewSchematic("addition", "A sum is rounded once.", "By hand.", 320, 120)
	s.Node(viz.Rect(20, 40, 80, 80), 5, viz.White, "*a* + *b*")
	s.Arrow(viz.Edge, viz.Solid, viz.At(80, 60), viz.At(140, 60))
	return s
}

// parts prints the CSV rows of what a schematic draws.
func parts(draw func(s *viz.Schematic)) {
	s := viz.NewSchematic("parts", "Parts are drawn.", "", 320, 120)
	draw(s)
	csv, _ := s.CSV()
	_, rows, _ := strings.Cut(string(csv), "\n")
	fmt.Print(rows)
}

func ExampleNewSchematic() {
	s := addition()
	csv, _ := s.CSV()
	fmt.Print(string(csv))
	// Output:
	// kind,x,y,w,h,text
	// box,20,40,60,40,*a* + *b*
	// text,30.95,53.84,38.1,14.56,*a* + *b*
	// arrow,80,60,60,0,
}

func ExampleSchematic_Finding() {
	fmt.Println(addition().Finding())
	// Output: A sum is rounded once.
}

func ExampleSchematic_Details() {
	fmt.Println(addition().Details())
	// Output: By hand.
}

func ExampleSchematic_Region() {
	parts(func(s *viz.Schematic) { s.Region(viz.Rect(10, 10, 110, 60), 20, viz.SkyBlue, "inputs") })
	// Output:
	// region,10,10,100,50,inputs
}

func ExampleSchematic_Text() {
	parts(func(s *viz.Schematic) { s.Text(viz.At(20, 30), viz.Start, 14, viz.Ink, "*x* + Δ*x*") })
	// Output:
	// text,20,23.84,46.78,14.56,*x* + Δ*x*
}

func ExampleSchematic_Heading() {
	parts(func(s *viz.Schematic) { s.Heading(viz.At(160, 20), "A") })
	// Output:
	// text,153.81,7.2,12.38,16.64,A
}

func ExampleSchematic_Node() {
	parts(func(s *viz.Schematic) { s.Node(viz.Rect(20, 40, 80, 80), 5, viz.White, "") })
	// Output:
	// box,20,40,60,40,
}

func ExampleSchematic_Operator() {
	parts(func(s *viz.Schematic) { s.Operator(viz.At(100, 60), 18, "×") })
	// Output:
	// circle,82,42,36,36,×
	// text,92.46,52.08,15.08,18.72,×
}

func ExampleSchematic_Dot() {
	parts(func(s *viz.Schematic) { s.Dot(viz.At(100, 60)) })
	// Output:
	// dot,96,56,8,8,
}

func ExampleSchematic_Arrow() {
	parts(func(s *viz.Schematic) {
		s.Arrow(viz.Edge, viz.Dashed, viz.At(10, 10), viz.At(10, 60), viz.At(90, 60))
	})
	// Output:
	// arrow,10,10,80,50,
}

func ExampleSchematic_Line() {
	parts(func(s *viz.Schematic) {
		s.Line(viz.Ink, 1.6, viz.Solid, viz.At(10, 10), viz.At(90, 10))
	})
	// Output:
	// line,10,10,80,0,
}

func ExampleSchematic_Brace() {
	parts(func(s *viz.Schematic) { s.Brace(viz.At(10, 40), viz.At(90, 40)) })
	// Output:
	// brace,10,30,80,10,
}

func ExampleSchematic_Grid() {
	parts(func(s *viz.Schematic) {
		s.Grid(viz.At(10, 10), 30, 1, 2, func(_, j int) string { return fmt.Sprint(j) },
			func(int, int) color.Color { return viz.White })
	})
	// Output:
	// cell,10,10,30,30,0
	// text,21.18,19.72,7.63,12.48,0
	// cell,40,10,30,30,1
	// text,51.18,19.72,7.63,12.48,1
	// grid,10,10,60,30,
}

func ExampleRGB() {
	fmt.Println(viz.RGB(0xD55E00) == viz.Vermilion)
	// Output: true
}

func ExampleAt() {
	fmt.Println(viz.At(3, 4).X)
	// Output: 3
}

func ExampleRect() {
	fmt.Println(viz.Rect(10, 20, 110, 60).Y1)
	// Output: 60
}

// A chart as a gonum/plot, for example to change its title and save it as PDF.
func ExampleChart_Plot() {
	c := viz.NewChart("growth", "The second grows faster.", "")
	p := c.Panel("", viz.Axis{Label: "n", Log: true}, viz.Axis{Label: "error", Log: true})
	p.Line(viz.Series{Label: "√n", Color: viz.Blue}, []float64{1, 100, 10000}, []float64{1, 10, 100})
	p.Line(viz.Series{Label: "n", Color: viz.Vermilion, Style: viz.Dashed}, []float64{1, 100, 10000}, []float64{1, 100, 10000})
	z := c.Plot()
	z.Title.Text = "My own title"
	w, err := z.WriterTo(10*vg.Centimeter, 8*vg.Centimeter, "pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	fmt.Println(n > 1000, b.String()[:4], err)
	// Output: true %PDF <nil>
}

func ExampleChart_Plots() {
	c := viz.NewChart("two", "The second grows faster.", "")
	for _, name := range []string{"above", "below"} {
		c.Panel(name, viz.Axis{Label: "n"}, viz.Axis{Label: "error"}).Line(viz.Series{Label: "n"}, []float64{1, 2}, []float64{3, 4})
	}
	fmt.Println(len(c.Plots()), c.Plots()[1].Title.Text)
	// Output: 2 below
}
