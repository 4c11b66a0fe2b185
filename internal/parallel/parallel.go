// Package parallel divides loops among the processor's cores.
package parallel

import (
	"runtime"
	"sync"
)

// Ranges calls work for contiguous parts of [0, n), one for each core, and
// waits for them.
func Ranges(n int, work func(lo, hi int)) {
	var wg sync.WaitGroup
	p := min(runtime.GOMAXPROCS(0), n)
	for i := range p {
		wg.Go(func() { work(i*n/p, (i+1)*n/p) })
	}
	wg.Wait()
}

// Each calls f(0) … f(n-1), each core every so manyth, and waits for them: for
// calls of unequal length.
func Each(n int, f func(i int)) {
	var wg sync.WaitGroup
	p := min(runtime.GOMAXPROCS(0), n)
	for start := range p {
		wg.Go(func() {
			for i := start; i < n; i += p {
				f(i)
			}
		})
	}
	wg.Wait()
}
