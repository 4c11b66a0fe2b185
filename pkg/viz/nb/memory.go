package nb

import (
	"os"
	"runtime/debug"

	"github.com/janpfeifer/gonb/gonbui"
)

// A cell keeps within a gigabyte where its data do: garbage is collected before
// the heap grows past this limit, unless GOMEMLIMIT in the environment of the
// kernel sets another.
const memoryLimit = 900 << 20

func init() {
	if gonbui.IsNotebook && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
