package cputime

import (
	"flag"
	"math"
	"runtime"
	"testing"
	"time"
)

// measured returns the result of a benchmark of so many iterations.
func measured(t *testing.T, iterations string, f func(b *testing.B)) testing.BenchmarkResult {
	benchtime := flag.Lookup("test.benchtime").Value
	defer flag.Set("test.benchtime", benchtime.String())
	if err := flag.Set("test.benchtime", iterations); err != nil {
		t.Fatal(err)
	}
	return testing.Benchmark(f)
}

// work needs nothing to be prepared.
func work(f func()) func() func() { return func() func() { return f } }

// Who asks for names gets them without any work, and without what prepares it.
func TestSpeed_of_names_only(t *testing.T) {
	t.Setenv(NamesOnly, "of all")
	done := 0
	r := measured(t, "1x", func(b *testing.B) {
		done += Speed(b, 2, 1e6, "MMAC/s", func() func() {
			done++
			return func() { done++ }
		})
	})
	if speed, ok := r.Extra["MMAC/s"]; done != 0 || !ok || speed != 0 {
		t.Errorf("%d things done, %v, want none and 0 MMAC/s", done, r.Extra)
	}
}

// Of products of unequal time the fastest one is told, beside all of them.
func TestSpeed(t *testing.T) {
	const macs, shortest = 1e6, 5 * time.Millisecond
	pauses := []time.Duration{4 * shortest, shortest, 8 * shortest, 2 * shortest}
	calls, counted := 0, 0
	r := measured(t, "4x", func(b *testing.B) {
		counted += Speed(b, 1, macs, "MMAC/s", work(func() {
			time.Sleep(pauses[calls%len(pauses)])
			calls++
		}))
	})
	if calls%len(pauses) != 0 || calls == 0 || counted != calls {
		t.Fatalf("%d products, want each of %d, and counted are %d", calls, len(pauses), counted)
	}
	fastest, all := r.Extra["fastest-MMAC/s"], r.Extra["clock-MMAC/s"]
	if most := macs / shortest.Seconds() / 1e6; fastest > most || fastest <= all {
		t.Errorf("the fastest has %.0f MMAC/s and all %.0f, want at most %.0f and more than all", fastest, all, most)
	}
	if want := macs * float64(r.N) / r.T.Seconds() / 1e6; math.Abs(all/want-1) > 0.01 {
		t.Errorf("all have %.1f MMAC/s, want %.1f", all, want)
	}
	if spent := r.Extra["MMAC/s"]; spent < all {
		t.Errorf("%.1f MMAC/s of processor time, want more than %.1f by the clock, of products that sleep", spent, all)
	}
	for _, unit := range []string{"of-one", "fastest-one-MMAC/s"} {
		if _, ok := r.Extra[unit]; ok {
			t.Errorf("products on one thread have %s, as if they had taken turns", unit)
		}
	}
}

// Products on two threads take turns with products on one, of each turn there
// is at least one product, and a turn that is disturbed does not count for more
// than another. The fastest on one thread is one that nothing disturbed.
func TestSpeedOfTwo(t *testing.T) {
	const macs, iterations = 1e6, 5
	disturbed := map[int]time.Duration{1: 6 * turn, 2: 20 * turn} // for so long, once
	was := runtime.GOMAXPROCS(0)
	for _, of := range []struct {
		name string
		two  time.Duration // and on one thread twice as long
	}{{"short", turn / 5}, {"longer than a turn", turn * 3 / 2}} {
		times := map[int]int{}
		var counted int
		r := measured(t, "5x", func(b *testing.B) {
			clear(times)
			counted = Speed(b, 2, macs, "MMAC/s", work(func() {
				threads := runtime.GOMAXPROCS(0)
				if times[threads]++; times[threads] == 1 {
					time.Sleep(disturbed[threads])
				}
				time.Sleep(of.two * time.Duration(3-threads))
			}))
		})
		if len(times) != 2 || counted != times[1]+times[2] || times[1] < iterations || times[2] < iterations {
			t.Errorf("%s: products on so many threads: %v; counted are %d", of.name, times, counted)
		}
		if ratio := r.Extra["of-one"]; ratio < 1.2 || ratio > 2.5 { // a busy machine wakes late
			t.Errorf("%s: two threads have %.2f times the speed of one, want about 2", of.name, ratio)
		}
		if two, most := r.Extra["fastest-MMAC/s"], macs/of.two.Seconds()/1e6; two > most || two <= 0 {
			t.Errorf("%s: %.1f on two threads, want at most %.1f", of.name, two, most)
		}
		if one, most := r.Extra["fastest-one-MMAC/s"], macs/of.two.Seconds()/2e6; one > most || one < 3*most/4 {
			t.Errorf("%s: %.1f on one thread, want at most %.1f and that nearly", of.name, one, most)
		}
	}
	if now := runtime.GOMAXPROCS(0); now != was {
		t.Errorf("after it there are %d threads, before it %d", now, was)
	}
}
