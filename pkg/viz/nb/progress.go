package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/roundofflab/roundoff/internal/progress"
)

// Experiments that take long have a bar in the output of their cell while they
// run. When a notebook is run to be published there is none.
func init() {
	if gonbui.IsNotebook && os.Getenv("ROUNDOFF_OUT") == "" {
		progress.Show = newBar
	}
}

// bar is the HTML element of a progress bar, which has an id of its own.
type bar string

func newBar() progress.Display { return bar(gonbui.UniqueId()) }

// Update draws the bar, filled to the given share.
func (b bar) Update(share float64) {
	gonbui.UpdateHtml(string(b), fmt.Sprintf(
		`<progress max="1" value="%.3f" aria-label="progress" style="width:320px"></progress> %.0f %%`, share, 100*share))
}

// End removes it.
func (b bar) End() {
	gonbui.UpdateHtml(string(b), "")
	gonbui.Sync()
}
