// Package nb shows figures in a notebook, and writes them to files when a
// notebook is run to be published.
//
//	nb.Show(fig5)
//	nb.Markdown("The bound is **%.1f×** the largest error.", ratio)
//
// In a notebook of the GoNB kernel every call waits until its output has
// arrived, because output in flight when a cell ends may be lost. Outside a
// notebook Show only exports, see there, and Markdown does nothing.
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
// become interactive where the page runs scripts; everywhere else they are
// pictures.
//
// When the environment variable ROUNDOFF_OUT names a folder, Show also writes
// each figure there as figures/NAME.svg, NAME.png, NAME.csv and NAME.json; the
// last has the keys name, finding, details, notebook (from ROUNDOFF_NOTEBOOK),
// kind (figure, table or schematic), order (nanoseconds since 1970) and html
// (of a table).
//
// When ROUNDOFF_FIGURES is png, figures are shown as pictures alone, for pages
// that must run no scripts.
//
// Show panics when there is no figure or one cannot be drawn or written, so
// that the cell fails where it can be seen.
func Show(figs ...viz.Figure) {
	if len(figs) == 0 {
		panic("nb: Show of no figure")
	}
	for i, f := range figs {
		if f == nil {
			panic(fmt.Sprintf("nb: figure %d is nil", i))
		}
		if dir := os.Getenv("ROUNDOFF_OUT"); dir != "" {
			must(f, export(filepath.Join(dir, "figures"), f))
		}
		if gonbui.IsNotebook {
			must(f, display(f))
		}
	}
	gonbui.Sync()
}

// Markdown displays text in Markdown, with numbers set in as by fmt.Sprintf.
func Markdown(format string, args ...any) {
	gonbui.DisplayMarkdown(fmt.Sprintf(format, args...))
	gonbui.Sync()
}

func must(f viz.Figure, err error) {
	if err != nil {
		panic(fmt.Sprintf("nb: figure %s: %v", f.Name(), err))
	}
}

// display sends the figure to the page, and before the first chart of a kernel
// the script that charts need. The caption goes along as plain text, for
// readers that show no HTML.
func display(f viz.Figure) error {
	if os.Getenv("ROUNDOFF_FIGURES") == "png" {
		return displayPicture(f)
	}
	page, err := viz.HTML(f, "roundoff-"+gonbui.UniqueId())
	if err != nil {
		return err
	}
	if _, ok := f.(*viz.Chart); ok && firstOfKernel() {
		page = viz.Script() + page
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  page,
		protocol.MIMETextPlain: viz.Caption(f),
	}})
	return gonbui.Error()
}

func displayPicture(f viz.Figure) error {
	picture, err := f.PNG()
	if err != nil {
		return err
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMEImagePNG:  picture,
		protocol.MIMETextPlain: viz.Caption(f),
	}})
	return gonbui.Error()
}

// firstOfKernel reports whether no chart was shown before in the life of the
// kernel. Each cell is a process of its own, so a file in the kernel's folder
// remembers it. Without such a folder every chart brings the script along,
// which a page runs once.
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
