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
// core begins with the same range: its cache has what it stored there before.
// Its ranges are halves of what is left of its share, and so are those that
// others take from the end of it when they have ended theirs.
func Ranges(n int, work func(lo, hi int)) { divide(1, half, Loop{n, work}) }

// Loop is a loop over [0, N).
type Loop struct {
	N    int
	Work func(lo, hi int)
}

// Loops divides several loops as Ranges does one, and waits for all of them
// together: a core that has ended its part of one begins the next.
func Loops(loops ...Loop) { divide(1, half, loops...) }

// Grid divides a grid of rows × columns into rectangles, calls work for each
// concurrently, and waits for all of them. They are whole rows, as those of
// Ranges, as long as a core has more than one left, and then parts of one: of
// three rows two cores compute one and a half each. What work does for a row it
// does for few rows more than once. If there are fewer rows than cores, columns
// are divided, of all rows.
func Grid(rows, columns int, work func(rowLo, rowHi, columnLo, columnHi int)) {
	if rows < runtime.GOMAXPROCS(0) {
		Ranges(columns, func(lo, hi int) { work(0, rows, lo, hi) })
		return
	}
	piece := func(left int) int {
		if left > columns {
			return half(left/columns) * columns
		}
		return half(left)
	}
	divide(columns, piece, Loop{rows * columns, func(lo, hi int) {
		for lo < hi {
			row, column, n := lo/columns, lo%columns, min(hi-lo, columns-lo%columns)
			if n == columns {
				n = (hi - lo) / columns * columns
				work(row, row+n/columns, 0, columns)
			} else {
				work(row, row+1, column, column+n)
			}
			lo += n
		}
	}})
}

func half(n int) int { return (n + 1) / 2 }

// Each calls f(0) … f(n-1) concurrently and waits for all of them. It balances
// calls of unequal length.
func Each(n int, f func(i int)) {
	few := max(1, n/(64*runtime.GOMAXPROCS(0)))
	divide(1, func(left int) int { return min(few, left) }, Loop{n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	}})
}

// divide calls the work of loops for ranges of them on as many cores as there
// are. Each core has a share of each loop, of whole units, of which piece
// returns how many to take of so many left.
func divide(unit int, piece func(left int) int, of ...Loop) {
	n := 0
	for _, l := range of {
		n += l.N
	}
	cores := min(runtime.GOMAXPROCS(0), n)
	if cores <= 1 {
		for _, l := range of {
			if l.N > 0 {
				l.Work(0, l.N)
			}
		}
		return
	}
	l := &loop{of: of, piece: piece, shares: make([]share, cores*len(of))}
	for i := range l.shares {
		core, units := i/len(of), of[i%len(of)].N/unit
		l.shares[i].lo, l.shares[i].hi = core*units/cores*unit, (core+1)*units/cores*unit
	}
	l.left.Store(int64(n))
	l.done.Add(1)
	l.open()
	for i := 1; i < cores && startHelper(); i++ {
	}
	l.join(0)
	if !soon(l.finished) {
		l.done.Wait()
	}
}

// loop is one or several loops that are divided among cores.
type loop struct {
	of     []Loop
	piece  func(left int) int
	shares []share        // of each core, one of each loop
	left   atomic.Int64   // numbers for which work is not done
	done   sync.WaitGroup // for the last of them
}

// share contains the numbers of one loop and core that no goroutine has begun.
type share struct {
	mu     sync.Mutex
	lo, hi int
	_      [5]uint64 // the next share is in another line of the cache
}

// take takes some numbers: the first ones, or of another's share the last ones.
func (s *share) take(piece func(left int) int, others bool) (lo, hi int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lo, hi = s.lo, s.hi
	if lo == hi {
		return lo, hi
	}
	if others {
		s.hi -= piece(hi - lo)
		return s.hi, hi
	}
	s.lo += piece(hi - lo)
	return lo, s.lo
}

// join computes until all numbers are begun. Goroutine i begins with the shares
// of core i, and then takes what others have not begun.
func (l *loop) join(goroutine int) {
	defer l.close()
	for i := range l.shares {
		at := (goroutine*len(l.of) + i) % len(l.shares)
		for {
			lo, hi := l.shares[at].take(l.piece, i >= len(l.of))
			if lo == hi {
				break
			}
			l.of[at%len(l.of)].Work(lo, hi)
			if l.left.Add(int64(lo-hi)) == 0 {
				l.done.Done()
			}
		}
	}
}

func (l *loop) finished() bool { return l.left.Load() == 0 }

// joinable are loops with numbers that are not begun, as far as there is space.
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
// sleeps: longer than it takes to wake it, and than what a product does between
// its loops and before the next one's.
const patience = 200 * time.Microsecond

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
