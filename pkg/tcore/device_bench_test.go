package tcore

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func BenchmarkDeviceGEMM(b *testing.B) {
	const n = 256
	rng := rand.New(rand.NewPCG(1, 2))
	x, y, z := zeros(n, n), zeros(n, n), zeros(n, n)
	for i := range x.Data {
		x.Data[i], y.Data[i] = 2*rng.Float32()-1, 2*rng.Float32()-1
	}
	for _, d := range Devices() {
		b.Run(d.Name, func(b *testing.B) {
			for b.Loop() {
				d.GEMM(x, y, blas32.General{}, z)
			}
			b.ReportMetric(float64(b.N)*n*n*n/b.Elapsed().Seconds()/1e6, "MMAC/s")
		})
	}
}
