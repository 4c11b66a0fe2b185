package tcore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// onEveryWidth runs a test with the vector kernels of every width that the
// machine has, and without any.
func onEveryWidth(t *testing.T, test func(t *testing.T)) {
	best := vectorBits
	defer func() { vectorBits = best }()
	for _, bits := range []int{0, 256, 512} {
		if bits > best {
			t.Logf("no %d-bit vectors here", bits)
			continue
		}
		vectorBits = bits
		t.Run(fmt.Sprintf("%d bits", bits), test)
	}
}

// The blocked kernels against Dot, in shapes around their tiles and blocks.
func TestGEMMSums(t *testing.T) {
	sequential := []TensorCore{PaperF32,
		{"bf16 in, fp32 accumulate", 4, MPFMA{BFloat16, Binary32, Binary32, Binary32, Binary32}},
		{"fp32 throughout", 1, MPFMA{Binary32, Binary32, Binary32, Binary32, Binary32}}}
	onEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(31, 0))
		for _, s := range []shape{{1, 4, 1}, {12, 16, 8}, {13, 44, 7}, {24, 300, 8}, {25, 260, 16}, {29, 516, 33}, {115, 268, 40}} {
			for _, core := range sequential {
				specials := rng.IntN(2) == 0
				a, b, d := anyData(s.m, s.k, rng, specials), anyData(s.k, s.n, rng, specials), anyData(s.m, s.n, rng, false)
				core.GEMM(a, b, d)
				for i := range s.m {
					for range 4 {
						j := rng.IntN(s.n)
						got, want := d.Data[i*d.Stride+j], core.Dot(row(a, i), column(b, j))
						if !same(float64(got), float64(want)) {
							t.Fatalf("%s, %v: d[%d, %d] = %v, want %v", core.Name, s, i, j, got, want)
						}
					}
				}
			}
		}
	})
}
