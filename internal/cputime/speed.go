package cputime

import (
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/sample"
)

// turn is how long work goes on with one number of threads before the other
// has its turn: some products, and less than what a shared host takes to
// change its speed.
const turn = 20 * time.Millisecond

// NamesOnly is the environment variable of who asks which benchmarks there are,
// all of which take minutes.
const NamesOnly = "ROUNDOFF_BENCHMARK_NAMES"

// Named reports whether the environment has [NamesOnly]. Then the benchmark has
// 0 of the unit, and nothing else to do.
func Named(b *testing.B, unit string) bool {
	if os.Getenv(NamesOnly) == "" {
		return false
	}
	b.ReportMetric(0, unit)
	return true
}

// Speed times the work that prepare returns, which does an amount of something,
// on so many threads, and reports millions of it a second, in the unit: of
// processor time ("MMAC/s"), of time by the clock ("clock-MMAC/s"), and that of
// the fastest by the clock ("fastest-MMAC/s"). Work on more than one thread
// takes turns with work on one, and how many times as fast it is by the clock
// as in the turn before is reported beside, the median of all turns ("of-one"),
// which is not wrong more often one way than the other, and the fastest on one
// thread ("fastest-one-MMAC/s"). The quotient of the fastest is too small where
// cores are shared, since all of them are seldom left alone at once. It returns
// how often work was done, on any number; if the benchmark is [Named], it
// prepares nothing.
func Speed(b *testing.B, threads int, amount float64, unit string, prepare func() (work func())) int {
	if Named(b, unit) {
		return 0
	}
	work := prepare()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	one, all := newTimed(), newTimed()
	if threads == 1 {
		all.while(b.Loop, work)
	} else {
		var ratios []float64
		for b.Loop() {
			runtime.GOMAXPROCS(1)
			before := one.while(lasting(turn), work)
			runtime.GOMAXPROCS(threads)
			ratios = append(ratios, float64(before)/float64(all.while(lasting(turn), work)))
		}
		b.ReportMetric(sample.Median(ratios), "of-one")
		b.ReportMetric(amount/one.fastest.Seconds()/1e6, "fastest-one-"+unit)
	}
	b.ReportMetric(float64(all.mean().Nanoseconds()), "ns/op")
	b.ReportMetric(amount*float64(all.times)/all.spent.Seconds()/1e6, unit)
	b.ReportMetric(amount/all.mean().Seconds()/1e6, "clock-"+unit)
	b.ReportMetric(amount/all.fastest.Seconds()/1e6, "fastest-"+unit)
	return one.times + all.times
}

// timed is the time that work took: processor time, time by the clock, and
// that of the fastest.
type timed struct {
	times                 int
	spent, clock, fastest time.Duration
}

func newTimed() timed { return timed{fastest: math.MaxInt64} }

// while does the work as long as more is true, and returns the mean time of it
// by the clock.
func (t *timed) while(more func() bool, work func()) time.Duration {
	start, was := Spent(), *t
	for more() {
		begun := time.Now()
		work()
		took := time.Since(begun)
		t.times++
		t.clock += took
		t.fastest = min(t.fastest, took)
	}
	t.spent += Spent() - start
	return (t.clock - was.clock) / time.Duration(t.times-was.times)
}

func (t *timed) mean() time.Duration { return t.clock / time.Duration(t.times) }

// lasting returns a function that is true once, and then until d has passed.
func lasting(d time.Duration) func() bool {
	var begun time.Time
	return func() bool {
		if begun.IsZero() {
			begun = time.Now()
			return true
		}
		return time.Since(begun) < d
	}
}
