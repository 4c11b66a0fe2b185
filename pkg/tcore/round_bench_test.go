package tcore

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkRound rounds 10^7 numbers of U(0, 1). Set the number of cores by
// GOMAXPROCS in the environment, not by the flag -cpu: the first run of a
// benchmark with b.Loop ignores the flag.
func BenchmarkRound(b *testing.B) {
	const n = 10_000_000
	src, dst := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range src {
		src[i] = rng.Float64()
	}
	copy(dst, src) // so that no page fault is timed
	for _, f := range formats {
		for _, mode := range modes {
			b.Run("format="+f.Name+"/mode="+mode.String(), func(b *testing.B) {
				for b.Loop() {
					f.RoundSlice(dst, src, mode)
				}
				perMicrosecond(b, n, "Melem/s")
			})
		}
		b.Run("format="+f.Name+"/mode=Stochastic", func(b *testing.B) {
			s := Stochastic{Seed: 1, Bits: 32}
			for b.Loop() {
				s.RoundSlice(f, dst, src, 0)
			}
			perMicrosecond(b, n, "Melem/s")
		})
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
