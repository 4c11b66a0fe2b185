package abi

import (
	"fmt"
	"runtime"
)

// mostThreads is more than any machine has.
const mostThreads = 1 << 16

// Threads sets the number of cores that the library uses, unless it is 0, and
// answers with it. A library does not see an environment variable that the
// process sets after its start.
func Threads(text string) (string, error) {
	q := struct {
		Threads int `json:"threads"`
	}{}
	if err := read(text, &q); err != nil {
		return "", err
	}
	if q.Threads < 0 || q.Threads > mostThreads {
		return "", fmt.Errorf("threads is %d, want 0 to %d", q.Threads, mostThreads)
	}
	runtime.GOMAXPROCS(q.Threads) // which 0 leaves as it is
	q.Threads = runtime.GOMAXPROCS(0)
	return write(q)
}
