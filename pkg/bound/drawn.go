package bound

import (
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// drawnKey tells apart what is computed from numbers drawn from the distributions of A and B.
type drawnKey struct {
	kind  string
	x, y  moments
	a, b  tcore.Format
	mode  tcore.RoundingMode
	terms int
}

var drawnTables = struct {
	sync.Mutex
	known map[drawnKey]any
}{known: map[drawnKey]any{}}

// drawn returns what make returns, which depends on the distributions and formats of A and B alone, and
// keeps it for the next time.
func (k Kernel) drawn(kind string, terms int, make func() any) any {
	key := drawnKey{kind, k.X.moments(), k.Y.moments(), k.A, k.B, k.Convert, terms}
	drawnTables.Lock()
	defer drawnTables.Unlock()
	if z, ok := drawnTables.known[key]; ok {
		return z
	}
	if len(drawnTables.known) >= 64 {
		clear(drawnTables.known)
	}
	z := make()
	drawnTables.known[key] = z
	return z
}
