package tcore

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// BenchmarkCodes times products of codes with scales, of quiet data and with
// blocks of outliers, and reports the part of each path.
func BenchmarkCodes(b *testing.B) {
	for _, d := range Devices() {
		if core, ok := d.Core.(Fused); !ok || core.Group == 0 {
			continue
		}
		for _, data := range []string{"normal", "outliers"} {
			for _, s := range []shape{cube(512), cube(2048)} {
				benchmarkProduct(b, d.Name+"/data="+data, s, func() func() {
					rng := rand.New(rand.NewPCG(1, 0))
					x := normalCodes(rng, d, d.A, s.m, s.k, data == "outliers", false)
					y := normalCodes(rng, d, d.B, s.k, s.n, data == "outliers", true)
					z := zeros(s.m, s.n)
					return func() { d.MultiplyAddCodes(x, y, blas32.General{}, z) }
				})
			}
		}
	}
}
