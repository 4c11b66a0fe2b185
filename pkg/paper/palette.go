package paper

import "github.com/roundofflab/roundoff/pkg/viz"

// The colours and line styles of observed errors and of each analysis, the same
// in every figure.
var (
	Observed   = viz.Series{Label: "observed", Color: viz.Black}
	DBEA       = viz.Series{Label: "DBEA", Color: viz.Vermilion, Style: viz.Dashed}
	VIBEA      = viz.Series{Label: "VIBEA", Color: viz.Blue, Style: viz.Dashed}
	HighamMary = viz.Series{Label: "Higham & Mary 2019", Color: viz.Green, Style: viz.Dashed}
)
