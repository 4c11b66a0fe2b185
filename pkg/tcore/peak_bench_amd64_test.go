package tcore

import (
	"testing"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/internal/vector"
)

// BenchmarkPeak times FMAs whose operands are in the nearest cache: what the
// processor can do at most, 32 multiply-adds in binary32 a cycle in 512 bits.
func BenchmarkPeak(b *testing.B) {
	const k, repeat = 128, 1000
	rows, columns, run := 14, 32, vector.SumsFMA14x32
	switch features.Bits {
	case 0:
		b.Skip("no vector instructions")
	case 256:
		rows, columns, run = 6, 16, vector.SumsFMA6x16
	}
	x, y, c := make([]float32, rows*k), make([]float32, k*columns), make([]float32, rows*columns)
	b.Run("n=512/threads=1", func(b *testing.B) {
		cputime.Speed(b, 1, float64(rows*k*columns)*repeat, "MMAC/s", func() {
			for range repeat {
				run(&c[0], 4*columns, &x[0], 4*k, &y[0], k)
			}
		})
	})
}
