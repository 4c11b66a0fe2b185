package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// The lines of what was observed and of the methods, the same in every figure.
var (
	Observed   = viz.Series{Label: "observed", Color: viz.Black}
	DBEA       = viz.Series{Label: "DBEA", Color: viz.Vermilion, Style: viz.Dashed}
	VIBEA      = viz.Series{Label: "VIBEA", Color: viz.Blue, Style: viz.Dashed}
	HighamMary = viz.Series{Label: "Higham & Mary 2019", Color: viz.Green, Style: viz.Dashed}
)
