package nb

import (
	"os"
	"runtime/debug"

	"github.com/janpfeifer/gonb/gonbui"
)

// memoryLimit is the memory limit of the garbage collector in a notebook, in
// bytes: it collects before the heap exceeds the limit, so that a cell with
// less data than that stays below a gigabyte. GOMEMLIMIT in the environment of
// the kernel overrides it.
const memoryLimit = 900 << 20

func init() {
	if gonbui.IsNotebook && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
