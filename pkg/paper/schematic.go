package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// The schematics of the paper, Figures 1 to 4, have one tint for one precision.
var (
	tintLow   = viz.RGB(0xFBE3B5)
	tintHigh  = viz.RGB(0xD3EAF8)
	tintExact = viz.RGB(0xF3F3F3)
)

// The sizes of their texts.
const (
	schemeText = 14.0
	schemeNote = 12.0
)
