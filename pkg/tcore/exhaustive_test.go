package tcore

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/parallel"
)

var whole = flag.Bool("whole", false, "try ten times as many multiply-adds")

// Every product of two 8-bit numbers is correct in the formats of the factors,
// and exact in binary32.
func TestProductsOf8Bits(t *testing.T) {
	for _, f := range []Format{E4M3, E5M2} {
		for _, g := range []Format{E4M3, E5M2} {
			for i := range 1 << 16 {
				a, b := f.Decode(uint64(i>>8)), g.Decode(uint64(i&0xff))
				p := a * b // exact: 4 bits by 4, exponents from -32 to 31
				if got := Binary32.Mul(a, b, ToNearestEven); !same(got, p) {
					t.Fatalf("%x × %x = %x in binary32, want %x", a, b, got, p)
				}
				for mode := ToNearestEven; mode <= ToOdd; mode++ {
					if got, want := f.Mul(a, b, mode), f.Round(p, mode); !same(got, want) {
						t.Fatalf("%s: %x × %x = %x under %v, want %x", f.Name, a, b, got, mode, want)
					}
				}
			}
		}
	}
}

// The FMA of binary16 agrees with the oracle on random and structured triples:
// 200,000 in the short test, ten million in the long one, a hundred million
// with -whole.
func TestFMAOfBinary16(t *testing.T) {
	n := 10_000_000
	switch {
	case *whole:
		n = 100_000_000
	case testing.Short():
		n = 200_000
	}
	parallel.Ranges(64, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			rng := rand.New(rand.NewPCG(11, uint64(part)))
			for i := range n / 64 {
				mode := RoundingMode(i % 6)
				a, b, c := binary16Triple(rng)
				if got, want := Binary16.FMA(a, b, c, mode), oracleFMA(Binary16, a, b, c, mode); !same(got, want) {
					t.Errorf("FMA(%x, %x, %x) = %x under %v, want %x", a, b, c, got, mode, want)
					return
				}
			}
		}
	})
}

// binary16Triple returns three finite numbers: arbitrary ones, awkward ones, or
// a sum that cancels.
func binary16Triple(rng *rand.Rand) (a, b, c float64) {
	draw := func() float64 {
		for {
			if x := Binary16.Decode(rng.Uint64() & 0xffff); finite(x) {
				return x
			}
		}
	}
	a, b, c = draw(), draw(), draw()
	switch rng.IntN(4) {
	case 0:
		a, b, c = awkward(Binary16, rng), awkward(Binary16, rng), awkward(Binary16, rng)
	case 1:
		if z := Binary16.Round(a*b, RoundingMode(rng.IntN(6))); finite(z) {
			c = -z
		}
	}
	return a, b, c
}
