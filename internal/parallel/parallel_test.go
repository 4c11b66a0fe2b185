package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEverythingIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 100} {
		for name, loop := range map[string]func(done []atomic.Int32){
			"Ranges": func(done []atomic.Int32) {
				Ranges(len(done), func(lo, hi int) {
					for i := lo; i < hi; i++ {
						done[i].Add(1)
					}
				})
			},
			"Each": func(done []atomic.Int32) {
				Each(len(done), func(i int) { done[i].Add(1) })
			},
		} {
			done := make([]atomic.Int32, n)
			loop(done)
			for i := range done {
				if got := done[i].Load(); got != 1 {
					t.Errorf("%s of %d: %d is done %d times", name, n, i, got)
				}
			}
		}
	}
}
