package question

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// ParseDistributions returns the distributions of A and of B from a list of one
// for both, or of two.
func ParseDistributions(s string) (x, y bound.Distribution, err error) {
	return OneOrTwo(s, "distributions", bound.ParseDistribution)
}

// Overflows returns an error if the mean absolute value of an element exceeds
// the largest number of the format of its factor or of binary32.
func Overflows(d tcore.Device, x, y bound.Distribution) error {
	for _, of := range []struct {
		bound.Distribution
		tcore.Format
	}{{x, d.A}, {y, d.B}} {
		if !(of.MeanAbs() <= min(of.Format.Max(), math.MaxFloat32)) {
			return fmt.Errorf("-dist %s: the mean size is %.3g, and the largest number of %s %.3g", of.Distribution, of.MeanAbs(), of.Format.Name, of.Format.Max())
		}
	}
	return nil
}
