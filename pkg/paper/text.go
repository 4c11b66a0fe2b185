package paper

import (
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// Unit roundoffs and the series that appear in most figures.
var (
	u16 = tcore.Binary16.UnitRoundoff()
	u32 = tcore.Binary32.UnitRoundoff()

	observed = viz.Series{Label: "observed", Color: viz.Observed, Style: viz.Solid}
)

// percent, digits and superscript are those of every caption.
var (
	percent     = typeset.Percent
	digits      = typeset.Number
	superscript = typeset.Superscript
)

// short returns x with four significant digits.
func short(x float64) string { return digits(x, 4) }
