package paper

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// u16 and u32 are the unit roundoffs of binary16 and binary32.
var (
	u16 = tcore.Binary16.UnitRoundoff()
	u32 = tcore.Binary32.UnitRoundoff()
)

// percent, digits and superscript format the numbers in captions, phrase the
// words.
var (
	percent     = typeset.Percent
	digits      = typeset.Number
	superscript = typeset.Superscript
	phrase      = typeset.List
)

// short returns x with four significant digits.
func short(x float64) string { return digits(x, 4) }

// hold returns a sentence without its full stop: the bounds hold in all of n
// cases, or fail in some.
func hold(bounds string, bad, n int) string {
	if bad == 0 {
		return fmt.Sprintf("%s hold in all %d cases", bounds, n)
	}
	return fmt.Sprintf("%s fail in %d of %d cases", bounds, bad, n)
}
