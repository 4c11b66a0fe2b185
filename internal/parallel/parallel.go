// Package parallel divides loops among the processor's cores.
//
// The goroutine that begins a loop computes, too, and helpers join it, at most
// as many as there are cores beside one, for all loops together: a loop within
// a divided loop has helpers only when others have nothing left to do. A helper
// looks for another loop for a while before it ends, since to wake a core takes
// longer than many a loop.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Ranges divides [0, n) into contiguous ranges, a few for each core, calls work
// for each range concurrently, and waits for all of them. In loops of equal n a
// core begins with the same ranges: its cache has what it stored there before.
// Its first range is half of its share, its last ones are small: others take
// those that it has not begun when they have ended theirs.
func Ranges(n int, work func(lo, hi int)) {
	first := [...]int{0, 8, 12, 14, 15} // sixteenths of a share before each of its ranges
	cores := min(runtime.GOMAXPROCS(0), n)
	divide(n, cores, cores*len(first), func(part int) int {
		core, i := part/len(first), part%len(first)
		share := core * n / cores
		return share + (((core+1)*n/cores-share)*first[i]+15)/16
	}, work)
}

// Each calls f(0) … f(n-1) concurrently and waits for all of them. It balances
// calls of unequal length.
func Each(n int, f func(i int)) {
	cores := min(runtime.GOMAXPROCS(0), n)
	parts := min(64*cores, n)
	divide(n, cores, parts, func(part int) int { return part * n / parts }, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// divide calls work for so many parts of [0, n), equally many for each core, of
// which begin returns the first number. Parts may be empty.
func divide(n, cores, parts int, begin func(part int) int, work func(lo, hi int)) {
	if cores <= 1 {
		if n > 0 {
			work(0, n)
		}
		return
	}
	l := &loop{cores: cores, begin: begin, work: work, begun: make([]atomic.Bool, parts)}
	l.done.Add(1)
	l.open()
	for i := 1; i < cores && startHelper(); i++ {
	}
	l.join(0)
	if !soon(l.finished) {
		l.done.Wait()
	}
}

// loop is a loop that is divided into parts.
type loop struct {
	cores int
	begin func(part int) int
	work  func(lo, hi int)
	begun []atomic.Bool  // for each part
	ended atomic.Int64   // parts
	done  sync.WaitGroup // for the last part
}

// join computes parts until all are begun. Goroutine i begins with the parts of
// core i, and then takes those that others have not begun.
func (l *loop) join(goroutine int) {
	defer l.close()
	parts := len(l.begun)
	for i := range parts {
		i = (goroutine*parts/l.cores + i) % parts
		if l.begun[i].Swap(true) {
			continue
		}
		if lo, hi := l.begin(i), l.begin(i+1); lo < hi {
			l.work(lo, hi)
		}
		if l.ended.Add(1) == int64(parts) {
			l.done.Done()
		}
	}
}

func (l *loop) finished() bool { return l.ended.Load() == int64(len(l.begun)) }

// joinable are loops with parts that are not begun, as far as there is space.
var joinable [8]atomic.Pointer[loop]

// open lets helpers join l.
func (l *loop) open() {
	for i := range joinable {
		if joinable[i].CompareAndSwap(nil, l) {
			return
		}
	}
}

// close reverses open.
func (l *loop) close() {
	for i := range joinable {
		if joinable[i].Load() == l { // which costs less than to try
			joinable[i].CompareAndSwap(l, nil)
		}
	}
}

// helpers is the number of helpers.
var helpers atomic.Int64

// startHelper starts a helper. It returns false if there are enough.
func startHelper() bool {
	i := int(helpers.Add(1))
	if i >= runtime.GOMAXPROCS(0) {
		helpers.Add(-1)
		return false
	}
	go help(i)
	return true
}

// help joins loops, as goroutine i, until there is none for a while.
func help(i int) {
	var l *loop
	found := func() bool {
		for i := range joinable {
			if l = joinable[i].Load(); l != nil {
				return true
			}
		}
		return false
	}
	for soon(found) {
		l.join(i)
	}
	helpers.Add(-1)
	if found() { // and was opened while there were enough helpers
		startHelper()
	}
}

// patience is how long a goroutine looks for what it waits for before it
// sleeps: some times longer than it takes to wake it.
const patience = 50 * time.Microsecond

// soon waits until ok returns true and reports whether it did so soon.
func soon(ok func() bool) bool {
	for begin := time.Now(); time.Since(begin) < patience; {
		for range 8 {
			if ok() {
				return true
			}
		}
	}
	return false
}
