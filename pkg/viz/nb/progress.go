package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/roundofflab/roundoff/internal/progress"
)

// Long experiments show a progress bar in the output of their cell, except when
// a notebook is run for publication.
func init() {
	if gonbui.IsNotebook && os.Getenv("ROUNDOFF_OUT") == "" {
		progress.Show = newBar
	}
}

// bar is the id of the HTML element of a progress bar.
type bar string

func newBar() progress.Display { return bar(gonbui.UniqueId()) }

// Update draws the bar, filled to the given fraction.
func (b bar) Update(share float64) {
	gonbui.UpdateHtml(string(b), fmt.Sprintf(
		`<progress max="1" value="%.3f" aria-label="progress" style="width:320px"></progress> %.0f %%`, share, 100*share))
}

// End removes the bar.
func (b bar) End() {
	gonbui.UpdateHtml(string(b), "")
	gonbui.Sync()
}
