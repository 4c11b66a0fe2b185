package bound

import (
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A drawnKey tells apart what is computed from numbers drawn from the
// distributions of A and B: what draws them, and what they become.
type drawnKey struct {
	kind  string
	x, y  *facts
	a, b  tcore.Format
	mode  tcore.RoundingMode
	terms int // or another number that it depends on
}

var drawnTables table[drawnKey, func() any]

// drawn returns what make returns, which depends on the distributions and
// formats of A and B alone, and keeps it for the next time.
func (k Problem) drawn(kind string, terms int, make func() any) any {
	key := drawnKey{kind, k.X.of(), k.Y.of(), k.Device.A, k.Device.B, k.Device.Convert, terms}
	drawnTables.Lock()
	z, ok := drawnTables.known[key]
	if !ok {
		z = sync.OnceValue(make)
		drawnTables.keep(key, z)
	}
	drawnTables.Unlock()
	return z()
}
