package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// Fill colours of the paper's schematics. In Figures 2 to 4 each colour is one
// precision: low, high, exact. Figure 1 uses the first two for its spaces of
// outputs and inputs.
var (
	tintLow   = viz.RGB(0xFBE3B5)
	tintHigh  = viz.RGB(0xD3EAF8)
	tintExact = viz.RGB(0xF3F3F3)
)

// Text sizes of the schematics in px.
const (
	schemeText = 14.0
	schemeNote = 12.0
)
