package nb

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// explorers is the number of calls of Explore in this program so far.
var explorers int

// Explore displays a chart with controls and returns. The settings that the
// explorer keeps are drawn in advance and work on every page that runs scripts,
// also in a notebook that was saved and reopened. A page without scripts shows
// the picture of the initial setting.
//
// In JupyterLab the controls offer all their values as long as the kernel runs.
// The cell has ended and blocks no other: for each value that the reader
// chooses the page has the kernel run the cell's program anew, up to this call
// of Explore, which then prints the figure and ends the program. What stands
// before it in the cell should therefore be fast and the same each time. While
// the kernel is busy with another cell, the page shows the nearest figure that
// was drawn in advance.
//
// If ROUNDOFF_OUT is set, nobody can move a control: Explore writes the figure
// of the initial setting as [Show] does, and NAME.html, a page with the chart
// and its controls. Outside a notebook, without ROUNDOFF_OUT, it displays
// nothing.
//
// Explore panics if the explorer is invalid, as [viz.Explorer.Figure] does, or
// if a figure cannot be drawn or written.
func Explore(e viz.Explorer) {
	explorers++
	answer(e)
	out := os.Getenv("ROUNDOFF_OUT")
	if out == "" && !gonbui.IsNotebook {
		return
	}
	f := e.Figure(e.Start()...)
	kernel, code := "", ""
	if out == "" {
		kernel, code = answering()
	}
	html, err := drawAll(e, "roundoff-"+gonbui.UniqueId(), kernel, code)
	must(f, err)
	if out != "" {
		must(f, exportPage(filepath.Join(out, "figures"), e, f, html))
	}
	if !gonbui.IsNotebook {
		return
	}
	if firstOfKernel() {
		html = viz.Script() + html
	}
	must(f, send(f, protocol.MIMETextHTML, html))
	gonbui.Sync()
}

// exportPage writes the files of the figure and the page with its controls.
func exportPage(dir string, e viz.Explorer, f viz.Figure, html string) error {
	d, err := viz.Draw(f)
	if err != nil {
		return err
	}
	if err := export(dir, d); err != nil {
		return err
	}
	title := e.Title
	if title == "" {
		title = f.Name()
	}
	return atomicfile.WriteFile(filepath.Join(dir, f.Name()+".html"), viz.Page(title, "../index.html#figure-"+f.Name(), html))
}

// drawAll returns the HTML of the explorer and reports progress after each of
// its charts.
func drawAll(e viz.Explorer, id, kernel, code string) (string, error) {
	task := progress.Start(len(e.Settings()))
	defer task.End()
	draw := e.Draw
	e.Draw = func(at []int) *viz.Chart {
		defer task.Step(1)
		return draw(at)
	}
	return e.HTML(id, kernel, code)
}

// answer prints the figure and ends the program if the page asks this call of
// Explore for one.
func answer(e viz.Explorer) {
	text, asked := os.LookupEnv(question)
	if !asked {
		return
	}
	q, err := parseRequest(text)
	if err != nil {
		panic(fmt.Sprintf("nb: %s = %q: %v", question, text, err))
	}
	if q.explorer != explorers {
		return
	}
	if !e.Has(q.at) {
		panic(fmt.Sprintf("nb: %s = %q, and explorer %d has no such setting", question, text, explorers))
	}
	frame, err := e.Frame(q.files, q.at...)
	if err != nil {
		panic(fmt.Sprintf("nb: setting %v: %v", q.at, err))
	}
	fmt.Printf("\n%s\n", frame)
	os.Exit(0)
}
