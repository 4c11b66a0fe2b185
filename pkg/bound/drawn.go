package bound

import "github.com/roundofflab/roundoff/pkg/tcore"

// A drawnKey identifies a quantity computed from numbers drawn from the
// distributions of A and B: by these distributions, the formats that the
// numbers are converted to, and the rounding mode of the conversion.
type drawnKey struct {
	kind  string
	x, y  *facts
	a, b  tcore.Format
	mode  tcore.RoundingMode
	terms int // or another parameter of the quantity
}

var drawnTables table[drawnKey, func() any]

// drawn returns the result of make, and caches it. The result must depend on
// nothing but kind, terms, and the distributions, formats and conversion of A
// and B.
func (k Problem) drawn(kind string, terms int, make func() any) any {
	key := drawnKey{kind, k.X.of(), k.Y.of(), k.Device.A, k.Device.B, k.Device.Convert, terms}
	return once(&drawnTables, key, make)
}
