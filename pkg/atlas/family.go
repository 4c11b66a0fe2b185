package atlas

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Families returns the words for how devices round sums, coarse ones first.
func Families() []string {
	return []string{
		"sums in binary16", "truncated, 13 bits", "truncated, 23 to 25 bits", "truncated, 35 bits", "binary32, to odd",
		"binary32, to nearest", "binary64",
	}
}

// familyOf returns how a device rounds sums: the format of the result, and what
// a block keeps of its products.
func familyOf(d tcore.Device) string {
	switch {
	case d.C.Precision > tcore.Binary32.Precision:
		return "binary64"
	case d.C.Precision < tcore.Binary32.Precision:
		return "sums in " + d.C.Name
	}
	fused := func(f tcore.Fused) string {
		if 23 <= f.FractionBits && f.FractionBits <= 25 {
			return "truncated, 23 to 25 bits"
		}
		return fmt.Sprintf("truncated, %d bits", f.FractionBits)
	}
	switch c := d.Core.(type) {
	case tcore.Fused:
		return fused(c)
	case tcore.Split:
		return fused(c.By)
	case tcore.TwoStage:
		return "truncated, 23 to 25 bits"
	case tcore.OddPairs:
		return "binary32, to odd"
	}
	return "binary32, to nearest"
}
