package cputime

import (
	"flag"
	"math"
	"testing"
	"time"
)

// Of products of unequal time the fastest one is told, beside all of them.
func TestProducts(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime").Value
	defer flag.Set("test.benchtime", benchtime.String())
	if err := flag.Set("test.benchtime", "4x"); err != nil {
		t.Fatal(err)
	}
	const macs, shortest = 1e6, 5 * time.Millisecond
	pauses := []time.Duration{4 * shortest, shortest, 8 * shortest, 2 * shortest}
	calls := 0
	r := testing.Benchmark(func(b *testing.B) {
		Products(b, macs, func() {
			time.Sleep(pauses[calls%len(pauses)])
			calls++
		})
	})
	if calls%len(pauses) != 0 || calls == 0 {
		t.Fatalf("%d products, want each of %d", calls, len(pauses))
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
}
