package paper

import (
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// u16 and u32 are the unit roundoffs of binary16 and binary32.
var (
	u16 = tcore.Binary16.UnitRoundoff()
	u32 = tcore.Binary32.UnitRoundoff()
)

// percent, digits and superscript format the numbers in captions.
var (
	percent     = typeset.Percent
	digits      = typeset.Number
	superscript = typeset.Superscript
)

// short returns x with four significant digits.
func short(x float64) string { return digits(x, 4) }
