package cputime

import (
	"math"
	"testing"
	"time"
)

// Products times a product of macs multiply-adds and reports millions of them a
// second: of processor time, of time by the clock, and those of the fastest
// product by the clock.
func Products(b *testing.B, macs float64, multiply func()) {
	fastest := time.Duration(math.MaxInt64)
	start := Spent()
	for b.Loop() {
		begun := time.Now()
		multiply()
		fastest = min(fastest, time.Since(begun))
	}
	spent := Spent() - start
	all := macs * float64(b.N)
	b.ReportMetric(all/spent.Seconds()/1e6, "MMAC/s")
	b.ReportMetric(all/b.Elapsed().Seconds()/1e6, "clock-MMAC/s")
	b.ReportMetric(macs/fastest.Seconds()/1e6, "fastest-MMAC/s")
}
