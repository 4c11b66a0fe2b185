package reproduce

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// longestFirst returns the indices of the notebooks, sorted by the running time
// that they state, the longest first: a long one that starts when the others
// have ended keeps one core busy and the others waiting.
func longestFirst(notebooks []*notebook.Notebook) []int {
	order := make([]int, len(notebooks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(notebooks[j].RunningTime(), notebooks[i].RunningTime())
	})
	return order
}

// atATime calls the functions in their order, n at the same time. It calls none
// after one has returned an error, waits for those that run, and returns all
// errors, joined.
func atATime(n int, tasks []func() error) error {
	errs := make([]error, len(tasks))
	var failed bool
	var next int
	var mu sync.Mutex // of failed and next
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i, next = next, next+1
		return i, !failed && i < len(tasks)
	}
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if errs[i] = tasks[i](); errs[i] != nil {
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// A lineWriter passes on what it is told, one call after the other.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
