package tcore

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The size of the paper's experiment.
const paperM, paperK, paperN = 1 << 10, 1 << 15, 1 << 3

// uniform returns a matrix of float32 elements of U(-1, 1), multiples of 2^-24.
func uniform(rows, cols int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := zeros(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(int32(rng.Uint32())>>7) * 0x1p-24
	}
	return m
}

// zeros returns a zero matrix.
func zeros(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func BenchmarkGEMM(b *testing.B) {
	x, y, d := uniform(paperM, paperK, 1), uniform(paperK, paperN, 2), zeros(paperM, paperN)
	var f blas64.General
	for _, bb := range []struct {
		name string
		gemm func()
	}{
		{"F32", func() { PaperF32.GEMM(x, y, d) }},
		{"F16", func() { PaperF16.GEMM(x, y, d) }},
		{"Float64", func() { f = Float64GEMM(x, y) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				bb.gemm()
			}
			perUnit(b, paperM*paperK*paperN, "ns/MAC")
		})
	}
	_ = f
}

func BenchmarkExactGEMM(b *testing.B) {
	x, y := uniform(paperM, paperK, 1), uniform(paperK, paperN, 2)
	x16, y16 := uniform(paperM, paperK, 1), uniform(paperK, paperN, 2)
	Binary16.RoundSlice32(x16.Data, x16.Data)
	Binary16.RoundSlice32(y16.Data, y16.Data)
	wide := uniform(64, paperK, 3)
	for i := range wide.Data {
		wide.Data[i] *= float32(exp2(i%128 - 100))
	}
	for _, bb := range []struct {
		name string
		gemm func(a, b blas32.General) (Exact, error)
		x, y blas32.General
	}{
		{"AB/binary32", ExactGEMM, x, y},
		{"AB/binary16", ExactGEMM, x16, y16},
		{"AbsAbs/binary32", ExactAbsGEMM, x, y},
		{"AbsAbs/binary16", ExactAbsGEMM, x16, y16},
		{"AB/wide", ExactGEMM, wide, y},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := bb.gemm(bb.x, bb.y); err != nil {
					b.Fatal(err)
				}
			}
			perUnit(b, bb.x.Rows*paperK*paperN, "ns/MAC")
		})
	}
}

// perUnit reports the wall time of one of the n units of an iteration.
func perUnit(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), unit)
}
