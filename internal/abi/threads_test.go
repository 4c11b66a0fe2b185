package abi

import (
	"runtime"
	"strings"
	"testing"
)

// The number of cores is what is asked for, from then on; 0 changes nothing.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		question, want string
		cores          int
	}{
		{`{"threads": 3}`, `{"threads":3}`, 3}, {`{}`, `{"threads":3}`, 3}, {`{"threads": 0}`, `{"threads":3}`, 3}, {`{"threads": 1}`, `{"threads":1}`, 1},
	} {
		if code, got := Call(func() (string, error) { return Threads(c.question) }); code != OK || got != c.want || runtime.GOMAXPROCS(0) != c.cores {
			t.Errorf("%s: %d, %s with %d cores, want %s with %d", c.question, code, got, runtime.GOMAXPROCS(0), c.want, c.cores)
		}
	}
	for _, q := range []string{`{"threads": -1}`, `{"threads": 1e9}`, `{"threads": 1.5}`, `{"cores": 2}`} {
		if code, got := Call(func() (string, error) { return Threads(q) }); code == OK || runtime.GOMAXPROCS(0) != 1 {
			t.Errorf("%s: %s", q, got)
		} else if !strings.Contains(got, "threads") && !strings.Contains(got, "cores") {
			t.Errorf("%s: %s names no argument", q, got)
		}
	}
}
