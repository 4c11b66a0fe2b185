package bound

import (
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A drawnKey tells apart what is computed from numbers drawn from the distributions of A and B: what
// draws them, and what they become.
type drawnKey struct {
	kind  string
	x, y  drawn
	a, b  tcore.Format
	mode  tcore.RoundingMode
	terms int // or another number that it depends on
}

// drawn is a distribution that numbers are drawn from, by the function value itself.
type drawn struct {
	moments
	draw uintptr
}

func (d Distribution) drawn() drawn {
	return drawn{d.moments(), *(*uintptr)(unsafe.Pointer(&d.Draw))}
}

// A drawnEntry keeps the functions of its key, so that no other can have their place.
type drawnEntry struct {
	x, y func(*rand.Rand) float64
	made func() any
}

var drawnTables table[drawnKey, drawnEntry]

// drawn returns what make returns, which depends on the distributions and formats of A and B alone, and
// keeps it for the next time.
func (k Problem) drawn(kind string, terms int, make func() any) any {
	key := drawnKey{kind, k.X.drawn(), k.Y.drawn(), k.Device.A, k.Device.B, k.Device.Convert, terms}
	drawnTables.Lock()
	z, ok := drawnTables.known[key]
	if !ok {
		z = drawnEntry{k.X.Draw, k.Y.Draw, sync.OnceValue(make)}
		drawnTables.keep(key, z)
	}
	drawnTables.Unlock()
	return z.made()
}
