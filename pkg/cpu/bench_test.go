package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// benchmark times n × n products on one thread, and on two where there are two.
// prepare is called only for the benchmarks that are run.
func benchmark(b *testing.B, name string, n int, prepare func(r *rand.Rand) (multiply func())) {
	for _, threads := range []int{1, 2} {
		if threads > runtime.NumCPU() {
			continue
		}
		b.Run(fmt.Sprintf("device=%s/n=%d/threads=%d", name, n, threads), func(b *testing.B) {
			cputime.Speed(b, threads, float64(n)*float64(n)*float64(n), "MMAC/s", func() func() {
				multiply := prepare(rand.New(rand.NewPCG(seed, 3)))
				multiply() // the memory that it takes is there from then on, as that of sgemm is
				return multiply
			})
		})
	}
}

// BenchmarkProcessor times products on the instructions of the processor,
// rounding and packing of the factors included; of codes of bfloat16 without
// the rounding.
func BenchmarkProcessor(b *testing.B) {
	for _, d := range cpu.Instructions() {
		u, err := cpu.Open(d)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{512, 2048} {
			benchmark(b, d.Name, n, func(r *rand.Rand) func() {
				draw := func() float32 { return float32(r.NormFloat64()) }
				x, y, z := matrixOf(r, n, n, 0, draw), matrixOf(r, n, n, 0, draw), matrixOf(r, n, n, 0, draw)
				return func() { u.GEMM(blas.NoTrans, blas.NoTrans, 1, x, y, 0, blas32.General{}, z) }
			})
			if d.A.Equal(tcore.BFloat16) {
				benchmark(b, d.Name+"/data=codes", n, func(r *rand.Rand) func() {
					draw := func() float32 { return float32(r.NormFloat64()) }
					x, y := encoded(d.A, matrixOf(r, n, n, 0, draw)), encoded(d.B, matrixOf(r, n, n, 0, draw))
					z := matrixOf(r, n, n, 0, draw)
					return func() { u.GEMMCodes(1, x, y, 0, blas32.General{}, z) }
				})
			}
		}
	}
	for _, d := range cpu.Integers() {
		u, err := cpu.Open(d)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{512, 2048} {
			benchmark(b, d.Name, n, func(r *rand.Rand) func() {
				x, y, z := codesOf(r, n, n), codesOf(r, n, n), make([]int32, n*n)
				return func() { u.MultiplyCodes(x, y, z) }
			})
		}
	}
}
