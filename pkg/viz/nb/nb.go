// Package nb shows figures in a notebook, and writes them to files when a
// notebook is run for publication.
//
//	nb.Show(fig5)
//	nb.Markdown("The bound is **%.1f×** the largest error.", ratio)
//
// In a notebook of the GoNB kernel every call waits until its output has
// arrived, because the kernel may lose output that is in transit when a cell
// ends. Outside a notebook [Show] only writes files, and [Markdown] does
// nothing.
package nb

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Show displays the figures one below the other, each with its caption. Charts
// are interactive if the page runs scripts; otherwise they are pictures.
//
// If the environment variable ROUNDOFF_OUT names a folder, Show also writes
// each figure there as figures/NAME.svg, NAME.png, NAME.csv and NAME.json. The
// last has the keys name, finding, details, notebook (from ROUNDOFF_NOTEBOOK),
// kind (figure, table or schematic), order (nanoseconds since 1970) and html
// (of a table).
//
// If ROUNDOFF_FIGURES is png, figures are shown as pictures only, for pages
// that must not run scripts.
//
// Show panics if there is no figure, or if one is nil or cannot be drawn or
// written, so that the cell visibly fails.
func Show(figs ...viz.Figure) {
	if len(figs) == 0 {
		panic("nb: Show of no figure")
	}
	for i, f := range figs {
		if f == nil {
			panic(fmt.Sprintf("nb: figure %d is nil", i))
		}
		must(f, show(f))
	}
	gonbui.Sync()
}

// show writes and displays one figure, where either is wanted.
func show(f viz.Figure) error {
	dir := os.Getenv("ROUNDOFF_OUT")
	if dir == "" && !gonbui.IsNotebook {
		return nil
	}
	d, err := viz.Draw(f)
	if err != nil {
		return err
	}
	if dir != "" {
		if err := export(filepath.Join(dir, "figures"), d); err != nil {
			return err
		}
	}
	if !gonbui.IsNotebook {
		return nil
	}
	return display(d)
}

// Markdown displays text in Markdown, formatted with args by fmt.Sprintf.
func Markdown(format string, args ...any) {
	gonbui.DisplayMarkdown(fmt.Sprintf(format, args...))
	gonbui.Sync()
}

func must(f viz.Figure, err error) {
	if err != nil {
		panic(fmt.Sprintf("nb: figure %s: %v", f.Name(), err))
	}
}

// display sends the figure to the page, and with the first chart of a kernel
// the script that charts need. The caption is included as plain text, for
// viewers that show no HTML.
func display(d viz.Drawing) error {
	if os.Getenv("ROUNDOFF_FIGURES") == "png" {
		return send(d.Figure, protocol.MIMEImagePNG, d.PNG)
	}
	page, err := d.HTML("roundoff-" + gonbui.UniqueId())
	if err != nil {
		return err
	}
	if _, ok := d.Figure.(*viz.Chart); ok && firstOfKernel() {
		page = viz.Script() + page
	}
	return send(d.Figure, protocol.MIMETextHTML, page)
}

// send sends what shows a figure to the page, and its caption.
func send(f viz.Figure, kind protocol.MIMEType, content any) error {
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		kind:                   content,
		protocol.MIMETextPlain: viz.Caption(f),
	}})
	return gonbui.Error()
}

// firstOfKernel reports whether this is the first chart since the kernel
// started. Each cell is a separate process, so a file in the kernel's folder
// records it. Without such a folder every chart includes the script, which a
// page runs once.
func firstOfKernel() bool {
	dir := os.Getenv(protocol.GONB_TMP_DIR_ENV)
	if dir == "" {
		return true
	}
	f, err := os.OpenFile(filepath.Join(dir, "roundoff-charts"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !os.IsExist(err)
	}
	return f.Close() == nil
}
