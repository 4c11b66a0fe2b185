package nb_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/roundofflab/roundoff/pkg/viz"
	"github.com/roundofflab/roundoff/pkg/viz/nb"
)

// Outside a notebook Show only writes files, if ROUNDOFF_OUT names a folder.
func ExampleShow() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.Setenv("ROUNDOFF_OUT", dir)
	defer os.Unsetenv("ROUNDOFF_OUT")

	scheme := viz.NewSchematic("scheme", "One box.", "", 200, 100)
	scheme.Node(viz.Rect(20, 20, 180, 80), 5, viz.White, "*a*")
	nb.Show(scheme)

	files, _ := filepath.Glob(filepath.Join(dir, "figures", "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// scheme.csv
	// scheme.json
	// scheme.png
	// scheme.svg
}

// Outside a notebook Markdown does nothing.
func ExampleMarkdown() {
	nb.Markdown("The bound is **%.1f×** the largest error.", 13.3)
	// Output:
}

// Check panics with the error of a run without which the cell cannot continue.
func ExampleCheck() {
	defer func() { fmt.Println(recover()) }()
	nb.Check(nil)
	nb.Check(fmt.Errorf("no samples"))
	// Output: nb: no samples
}

// Outside a notebook Explore writes the figure of the initial setting, and a
// page with the controls.
func ExampleExplore() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.Setenv("ROUNDOFF_OUT", dir)
	defer os.Unsetenv("ROUNDOFF_OUT")

	nb.Explore(viz.Explorer{
		Controls: []viz.Control{{Label: "n", Values: []string{"1", "2"}}},
		Draw: func(at []int) *viz.Chart {
			c := viz.NewChart("point", "One point.", "")
			c.Panel("", viz.Axis{Label: "n"}, viz.Axis{Label: "y"}).Points(viz.Series{Label: "n"}, []float64{float64(at[0] + 1)}, []float64{1})
			return c
		},
	})

	files, _ := filepath.Glob(filepath.Join(dir, "figures", "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// point.csv
	// point.html
	// point.json
	// point.png
	// point.svg
}
