package paper

import (
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// The unit roundoffs that appear most.
var (
	u16 = tcore.Binary16.UnitRoundoff()
	u32 = tcore.Binary32.UnitRoundoff()
)

// percent, digits and superscript are those of every caption.
var (
	percent     = typeset.Percent
	digits      = typeset.Number
	superscript = typeset.Superscript
)

// short returns x with four significant digits.
func short(x float64) string { return digits(x, 4) }
