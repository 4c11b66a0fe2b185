package tcore

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/roundofflab/roundoff/internal/cputime"
)

// BenchmarkRound rounds 10^7 numbers of U(0, 1) on one thread, and on two where
// there are two, in millions a second: of processor time, and of time by the
// clock.
func BenchmarkRound(b *testing.B) {
	const n = 10_000_000
	src, dst := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range src {
		src[i] = rng.Float64()
	}
	copy(dst, src) // so that no page fault is timed
	run := func(name string, round func()) {
		for _, threads := range []int{1, 2} {
			if threads > runtime.NumCPU() {
				continue
			}
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				cputime.Speed(b, threads, n, "Melem/s", func() func() { return round })
			})
		}
	}
	for _, f := range formats {
		for _, mode := range modes {
			run("format="+f.Name+"/mode="+mode.String(), func() { f.RoundSlice(dst, src, mode) })
		}
		s := Stochastic{Seed: 1, Bits: 32}
		run("format="+f.Name+"/mode=Stochastic", func() { s.RoundSlice(f, dst, src, 0) })
	}
}

// BenchmarkRoundSlice32 is the same for float32 data.
func BenchmarkRoundSlice32(b *testing.B) {
	const n = 1 << 16
	src, dst := uniform(1, n, 1).Data, make([]float32, n)
	for _, f := range formats {
		b.Run("format="+f.Name, func(b *testing.B) {
			for b.Loop() {
				f.RoundSlice32(dst, src)
			}
			perMicrosecond(b, n, "Melem/s")
		})
	}
}

// perMicrosecond reports how many of the n units of an iteration are completed
// per microsecond, which is millions per second.
func perMicrosecond(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(n)*float64(b.N)/float64(b.Elapsed().Microseconds()), unit)
}
