package viz_test

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/viz"
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

// Dots for what was computed, a line of reference across, and a note where it covers nothing.
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

func ExampleFigureMPFMA() {
	fmt.Println(viz.FigureMPFMA().Finding())
	// Output:
	// A mixed-precision FMA rounds twice at most.
}

func ExampleFigureTensorCoreBlock() {
	fmt.Println(viz.FigureTensorCoreBlock().Finding())
	// Output:
	// A tensor core multiplies 4 × 4 blocks and adds a third: 16 inner products of length 4, 64 multiply-adds.
}

func ExampleFigureTensorCoreKernel() {
	fmt.Println(viz.FigureTensorCoreKernel().Finding())
	// Output:
	// An inner product of length n runs through the kernel q = n/b times.
}

// A page needs the script once; a page that is alone is made whole.
func ExamplePage() {
	f := viz.FigureMPFMA()
	element, err := viz.HTML(f, "figure-2")
	page := string(viz.Page(f, element))
	fmt.Println(strings.HasPrefix(page, "<!doctype html>"), strings.Count(page, "<figure"), err)
	// Output: true 1 <nil>
}

// The script is not small, and loads nothing.
func ExampleScript() {
	s := viz.Script()
	fmt.Println(len(s) > 500_000, strings.HasPrefix(s, "<script>"), strings.Contains(s, "<script src"))
	// Output: true true false
}

// A slider of three values, of which a page without a kernel keeps two. The figure of every setting
// is drawn by the same function.
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

	frame, err := e.Frame(1) // what the page is sent when a kernel answers
	fmt.Println(strings.HasPrefix(frame, `{"at":[1],`), err)
	page, err := e.HTML("square-1", "")
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

func ExampleSchematic_Finding() {
	fmt.Println(viz.FigureMPFMA().Finding())
	// Output: A mixed-precision FMA rounds twice at most.
}

func ExampleSchematic_Details() {
	fmt.Println(viz.FigureTensorCoreBlock().Details())
	// Output: Tinted: one element of D and the numbers it is made of. Drawn by viz.FigureTensorCoreBlock.
}
