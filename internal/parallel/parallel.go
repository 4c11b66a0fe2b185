// Package parallel divides loops among the processor's cores.
package parallel

import (
	"runtime"
	"sync"
)

// Ranges divides [0, n) into contiguous ranges, one for each core, calls work
// for each range concurrently, and waits for all of them.
func Ranges(n int, work func(lo, hi int)) {
	var wg sync.WaitGroup
	p := min(runtime.GOMAXPROCS(0), n)
	for i := range p {
		wg.Go(func() { work(i*n/p, (i+1)*n/p) })
	}
	wg.Wait()
}

// Each calls f(0) … f(n-1) concurrently and waits for all of them. With p
// cores, each core computes every p-th call, which balances calls of unequal
// length.
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
