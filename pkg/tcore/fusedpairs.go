package tcore

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// FusedPairs adds the two products of a pair exactly and rounds their sum, and
// then adds that to c; pairs one after the other. Both roundings are to nearest
// even in C, subnormal numbers are kept, and zeros, infinities and NaN are
// those of IEEE 754: the widening FMOPA of Arm, and BFDOT, BFMMLA and BFMOPA
// with FEAT_EBF16 and FPCR.EBF = 1 (Arm 2024).
type FusedPairs struct {
	Terms int // number of products in a block, even
}

func (f FusedPairs) width() int { return f.Terms }

func (f FusedPairs) sum(d *Device, b block, _ *TraceBlock) float64 { return f.observed(d, b, nil) }

// observed is sum. It records the sums in z, unless z is nil.
func (f FusedPairs) observed(d *Device, b block, z *RoundedSums) float64 {
	c := b.c
	for k := 0; k < f.Terms; k += 2 {
		first, second := float64(b.x[k]*b.y[k]), float64(b.x[k+1]*b.y[k+1])
		pair := d.C.Add(first, second, ToNearestEven)
		z.rounded(first, second, pair)
		sum := d.C.Add(c, pair, ToNearestEven)
		z.rounded(c, pair, sum)
		c = sum
	}
	return c
}

func (f FusedPairs) check(d *Device) {
	if f.Terms%2 != 0 || !Binary32.contains(d.A) || !Binary32.contains(d.B) || d.A.Precision+d.B.Precision > d.C.Precision {
		panic(fmt.Sprintf("tcore: device %q: FusedPairs of %d terms of %s × %s in %s, want an even number, numbers of binary32, and products of no more bits than sums",
			d.Name, f.Terms, d.A.Name, d.B.Name, d.C.Name))
	}
}

var fusedPairsPath = newPath("fused pairs")

// newFusedPairsProduct prepares a and b for a [FusedPairs] in binary32. It
// returns false for another core or format, if there is no kernel, and unless
// all products are zero or numbers of binary32.
func newFusedPairsProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	core, ok := d.Core.(FusedPairs)
	if !ok || !d.C.Equal(Binary32) || !d.factorsWithin(a, b, Binary32.MinNormal(), 0x1p128, false) {
		return nil, false
	}
	kernel, ok := fusedPairsKernelFor(core.Terms, b.Cols)
	if !ok {
		return nil, false
	}
	return &sums32[float32]{newSumsProduct(a, b, kernel, converter32(d, d.A), converter32(d, d.B)), nil, fusedPairsPath}, true
}
