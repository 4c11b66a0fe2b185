package tcore

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/vector"
)

// BenchmarkPeak times FMAs whose operands are in the nearest cache: what the
// processor can do at most, 32 multiply-adds in binary32 a cycle in 512 bits.
// On two threads it tells what the host has for two at a time.
func BenchmarkPeak(b *testing.B) {
	const k, repeat = 128, 1000
	rows, columns, run := 14, 32, vector.SumsFMA14x32
	switch features.Bits {
	case 0:
		b.Skip("no vector instructions")
	case 256:
		rows, columns, run = 6, 16, vector.SumsFMA6x16
	}
	type tile struct{ x, y, c []float32 }
	memory := sync.Pool{New: func() any {
		return &tile{make([]float32, rows*k), make([]float32, k*columns), make([]float32, rows*columns)}
	}}
	for _, threads := range []int{1, 2} {
		if threads > runtime.NumCPU() {
			continue
		}
		b.Run(fmt.Sprintf("n=512/threads=%d", threads), func(b *testing.B) {
			cputime.Speed(b, threads, float64(threads*rows*k*columns)*repeat, "MMAC/s", func() func() {
				return func() {
					parallel.Ranges(threads*repeat, func(lo, hi int) {
						m := memory.Get().(*tile)
						defer memory.Put(m)
						for range hi - lo {
							run(&m.c[0], 4*columns, &m.x[0], 4*k, &m.y[0], k)
						}
					})
				}
			})
		})
	}
}
