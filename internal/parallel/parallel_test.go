package parallel

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// loops are Ranges, Loops and Each, with work for each of [0, n).
var loops = map[string]func(n int, work func(i int)){
	"Ranges": func(n int, work func(i int)) {
		Ranges(n, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				work(i)
			}
		})
	},
	"Loops": func(n int, work func(i int)) {
		part := func(first, end int) Loop {
			return Loop{end - first, func(lo, hi int) {
				for i := first + lo; i < first+hi; i++ {
					work(i)
				}
			}}
		}
		Loops(part(0, n/3), part(n/3, n/3), part(n/3, n))
	},
	"Each": Each,
}

// onCores runs a test with so many cores.
func onCores(t *testing.T, cores int, test func(t *testing.T)) {
	t.Run(fmt.Sprintf("cores=%d", cores), func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		test(t)
	})
}

// eventually reports whether ok returns true before the test has to fail.
func eventually(ok func() bool) bool {
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(10 * time.Microsecond) {
		if ok() {
			return true
		}
	}
	return false
}

func TestEverythingIsDoneOnce(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 8} {
		onCores(t, cores, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 7, 9, 100, 1000} {
				for name, loop := range loops {
					for range 100 {
						done := make([]int32, n) // no atomic numbers: a loop waits for what it has others do
						loop(n, func(i int) { done[i]++ })
						for i, times := range done {
							if times != 1 {
								t.Fatalf("%s of %d: %d is done %d times", name, n, i, times)
							}
						}
					}
				}
			}
		})
	}
}

// TestGrid checks that every element is done once, in rectangles, and that rows
// are divided only where a core would wait: those of a share are taken whole
// until one is left.
func TestGrid(t *testing.T) {
	for _, cores := range []int{1, 2, 3, 8} {
		onCores(t, cores, func(t *testing.T) {
			for _, size := range [][2]int{{0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1}, {2, 7}, {3, 5}, {37, 32}, {43, 3}} {
				rows, columns := size[0], size[1]
				for range 100 {
					var divided atomic.Int64
					done, parts := make([]int32, rows*columns), make([]atomic.Int32, rows)
					Grid(rows, columns, func(rowLo, rowHi, columnLo, columnHi int) {
						if rows >= cores && rowHi-rowLo > 1 && columnHi-columnLo < columns {
							t.Errorf("%v: rows [%d, %d), columns [%d, %d)", size, rowLo, rowHi, columnLo, columnHi)
						}
						for i := rowLo; i < rowHi; i++ {
							if parts[i].Add(1) == 2 { // of the row
								divided.Add(1)
							}
							for j := columnLo; j < columnHi; j++ {
								done[i*columns+j]++
							}
						}
					})
					for i, times := range done {
						if times != 1 {
							t.Fatalf("%v: %d is done %d times", size, i, times)
						}
					}
					if n := divided.Load(); rows >= cores && n > int64(cores) || cores == 1 && n > 0 {
						t.Fatalf("%v: %d rows are divided", size, n)
					}
				}
			}
		})
	}
}

// TestOthersHelpWithARow checks that of the last row of a core another one
// takes what this one, which waits for it there, does not begin.
func TestOthersHelpWithARow(t *testing.T) {
	onCores(t, 2, func(t *testing.T) {
		const columns = 16
		for range 100 {
			var others atomic.Int64
			Grid(3, columns, func(rowLo, rowHi, columnLo, columnHi int) {
				n := int64((rowHi - rowLo) * (columnHi - columnLo))
				if rowLo != 0 || columnLo != 0 {
					others.Add(n)
				} else if n == columns || !eventually(func() bool { return others.Load() == 3*columns-n }) {
					t.Errorf("others did %d beside %d", others.Load(), n)
				}
			})
		}
	})
}

// TestLoopsDoNotWait checks that a core begins its part of the second loop
// while another one computes for the first.
func TestLoopsDoNotWait(t *testing.T) {
	onCores(t, 2, func(t *testing.T) {
		for range 100 {
			var first, second atomic.Int64
			Loops(Loop{2, func(lo, hi int) {
				if first.Add(1) == 1 && !eventually(func() bool { return second.Load() > 0 }) {
					t.Error("the second loop did not begin")
				}
			}}, Loop{2, func(lo, hi int) { second.Add(1) }})
		}
	})
}

// TestRangesAreContiguous checks that ranges are whole, in order, and few: a
// share is halved as often as it can be, whoever takes the halves.
func TestRangesAreContiguous(t *testing.T) {
	for _, cores := range []int{1, 2, 3} {
		onCores(t, cores, func(t *testing.T) {
			for _, n := range []int{1, 5, 100, 1001} {
				var count atomic.Int64
				ends := make([]int, n)
				Ranges(n, func(lo, hi int) {
					count.Add(1)
					ends[lo] = hi
				})
				for lo := 0; lo < n; lo = ends[lo] {
					if ends[lo] <= lo {
						t.Fatalf("%d is in no range", lo)
					}
				}
				share := (n + cores - 1) / cores
				if most := int64(cores * bits.Len(uint(share))); count.Load() > most {
					t.Errorf("%d ranges, want at most %d", count.Load(), most)
				}
			}
		})
	}
}

// TestTake checks that a core takes halves of its share from the beginning, as
// in the loop before, and others take them from the end.
func TestTake(t *testing.T) {
	half := func(left int) int { return (left + 1) / 2 }
	s := share{lo: 10, hi: 26}
	for _, want := range []struct {
		others bool
		lo, hi int
	}{{false, 10, 18}, {true, 22, 26}, {false, 18, 20}, {true, 21, 22}, {false, 20, 21}} {
		if lo, hi := s.take(half, want.others); lo != want.lo || hi != want.hi {
			t.Errorf("others %v: took [%d, %d), want [%d, %d)", want.others, lo, hi, want.lo, want.hi)
		}
	}
	for _, others := range []bool{false, true} {
		if lo, hi := s.take(half, others); lo != hi {
			t.Errorf("took [%d, %d) of an empty share", lo, hi)
		}
	}
}

// TestOthersHelp checks that another goroutine takes all that the first one,
// which waits for it in its first range, does not begin.
func TestOthersHelp(t *testing.T) {
	onCores(t, 2, func(t *testing.T) {
		for name, loop := range loops {
			for _, n := range []int{2, 8} {
				first := 1
				if name == "Ranges" {
					first = max(1, n/2/2) // half of a share
				}
				for range 100 {
					var others atomic.Int64
					loop(n, func(i int) {
						if i >= first {
							others.Add(1)
						} else if i == 0 && !eventually(func() bool { return others.Load() == int64(n-first) }) {
							t.Errorf("%s of %d: others did %d", name, n, others.Load())
						}
					})
				}
			}
		}
	})
}

// TestLoopsWithinLoops checks that goroutines that compute are no more than
// those that began a loop of their own, and as many helpers as there are cores
// beside one.
func TestLoopsWithinLoops(t *testing.T) {
	for _, cores := range []int{2, 3} {
		onCores(t, cores, func(t *testing.T) {
			const callers, n = 4, 20
			var total, now, most atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range 20 {
						Each(n, func(int) {
							Ranges(n, func(lo, hi int) {
								computing := now.Add(1)
								for m := most.Load(); computing > m && !most.CompareAndSwap(m, computing); m = most.Load() {
								}
								total.Add(int64(hi - lo))
								runtime.Gosched()
								now.Add(-1)
							})
						})
					}
				})
			}
			wg.Wait()
			if want := int64(callers * 20 * n * n); total.Load() != want {
				t.Errorf("%d done, want %d", total.Load(), want)
			}
			if want := int64(callers + cores - 1); most.Load() > want {
				t.Errorf("%d at a time, want at most %d", most.Load(), want)
			}
		})
	}
}

// TestHelpersEnd checks that helpers end when there is nothing to do, and that
// no loop is left to join.
func TestHelpersEnd(t *testing.T) {
	onCores(t, 3, func(t *testing.T) {
		for range 100 {
			Ranges(10, func(lo, hi int) {})
			if !eventually(func() bool { return helpers.Load() == 0 }) {
				t.Fatalf("%d helpers do not end", helpers.Load())
			}
			for i := range joinable {
				if joinable[i].Load() != nil {
					t.Fatal("a loop is left open")
				}
			}
		}
	})
}

// TestPanics checks that a loop whose work panics on the goroutine that began
// it is not left for helpers to join.
func TestPanics(t *testing.T) {
	onCores(t, 2, func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
			for i := range joinable {
				if joinable[i].Load() != nil {
					t.Error("a loop is left open")
				}
			}
		}()
		Ranges(10, func(lo, hi int) {
			if lo == 0 {
				panic("first")
			}
			for !eventually(func() bool { return joinable[0].Load() == nil }) {
			}
		})
	})
}

// BenchmarkRanges times loops of parts of some length, one after the other.
func BenchmarkRanges(b *testing.B) {
	for _, length := range []time.Duration{0, 10 * time.Microsecond, 100 * time.Microsecond} {
		b.Run(fmt.Sprintf("length=%v", length), func(b *testing.B) {
			cores := runtime.GOMAXPROCS(0)
			for b.Loop() {
				Ranges(cores, func(lo, hi int) {
					for begin := time.Now(); time.Since(begin) < length; {
					}
				})
			}
		})
	}
}
