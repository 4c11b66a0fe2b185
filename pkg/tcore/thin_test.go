package tcore

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// A thin product, which is computed transposed, has the same bits as Dot, for
// shapes around the size of a panel, with elements out of range, and with and
// without C.
func TestThinProduct(t *testing.T) {
	devices := []Device{VoltaF16, AmpereF16, HopperF16, HopperE4M3}
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(71, 0))
		for _, d := range devices {
			for _, s := range []shape{{64, 64, 1}, {65, 300, 5}, {33, 40, 8}, {79, 129, 16}, {70, 130, 32}, {66, 24, 33}} {
				a, b := fusedMatrix(rng, s.m, s.k, d.A, 0.01), fusedMatrix(rng, s.k, s.n, d.B, 0.001)
				c, z := fusedMatrix(rng, s.m, s.n, d.C, 0.01), zeros(s.m, s.n)
				for _, start := range []blas32.General{{}, c} {
					if _, thin := newThinProduct(&d, a, b, start.Data != nil); thin != (dotAddWidth() >= 2*s.n && s.m >= dotAddWidth()) {
						t.Fatalf("%s, %v: thin is %v", d.Name, s, thin)
					}
					d.MultiplyAdd(a, b, start, z)
					compareElements(t, d, a, b, start, z, ofEachRow(rng, z, 1))
				}
			}
		}
	})
}
