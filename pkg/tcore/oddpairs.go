package tcore

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/fma"
	"gonum.org/v1/gonum/blas/blas32"
)

// OddPairs adds the two products of a pair, and their sum to c, each sum
// rounded to odd in binary32; pairs one after the other. An overflow gives an
// infinity. Subnormal operands and results below 2^-126, before they are
// rounded, are zeros of their sign: BFDOT, BFMMLA and BFMOPA, the bfloat16
// instructions of Arm, where FEAT_EBF16 is absent or not used (Arm 2024).
type OddPairs struct {
	Terms int // number of products in a block, even
}

func (o OddPairs) width() int { return o.Terms }

func (o OddPairs) sum(_ *Device, b block, _ *TraceBlock) float64 {
	c := flush(Binary32, b.c)
	for k := 0; k < o.Terms; k += 2 {
		c = oddSum(c, oddSum(oddProduct(b.x[k], b.y[k]), oddProduct(b.x[k+1], b.y[k+1])))
	}
	return c
}

func (o OddPairs) check(d *Device) {
	if o.Terms%2 != 0 || !d.C.Equal(Binary32) || !d.A.Equal(BFloat16) || !d.B.Equal(BFloat16) {
		panic(fmt.Sprintf("tcore: device %q: OddPairs of %d terms of %s × %s in %s, want an even number, bfloat16 and binary32",
			d.Name, o.Terms, d.A.Name, d.B.Name, d.C.Name))
	}
}

// oddProduct returns the product of two numbers of bfloat16 that OddPairs adds.
// It has 16 bits, and is exact unless it is flushed or overflows.
func oddProduct(x, y float64) float64 {
	return flushedOdd(flush(Binary32, x) * flush(Binary32, y))
}

// oddSum returns x + y, of two numbers of binary32, as OddPairs rounds it.
func oddSum(x, y float64) float64 { return flushedOdd(fma.ToOdd(fma.TwoSum(x, y))) }

// flushedOdd returns a number, exact or rounded to odd in binary64, rounded to
// odd in binary32. Numbers below 2^-126 are zeros of their sign, those from
// 2^128 on infinite.
func flushedOdd(x float64) float64 {
	switch {
	case math.Abs(x) < 0x1p-126:
		return signed(0, math.Signbit(x))
	case math.Abs(x) >= 0x1p128:
		return math.Inf(int(math.Copysign(1, x)))
	}
	return Binary32.Round(x, ToOdd)
}

var oddPairsPath = newPath("pairs rounded to odd")

// oddPairsProduct is a product on an [OddPairs] without sums that overflow, as
// long as C is less than 2^126 in magnitude; else general is.
type oddPairsProduct struct {
	*sums32[float32]
	general func() prepared
}

// newOddPairsProduct prepares a and b for an [OddPairs]. It returns false for
// another core, if there is no kernel, and where sums might overflow.
func newOddPairsProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	core, ok := d.Core.(OddPairs)
	if !ok {
		return nil, false
	}
	kernel, ok := oddPairsKernelFor(core.Terms)
	if !ok || !d.factorsWithin(a, b, 0, 0x1p126/float64(a.Cols), false) {
		return nil, false
	}
	p := newSumsProduct(a, b, kernel, converter32(d, d.A), converter32(d, d.B))
	general := func() prepared { return d.rowProduct(a, b) }
	return &oddPairsProduct{&sums32[float32]{p, nil, oddPairsPath}, general}, true
}

func (p *oddPairsProduct) addTo(c, z blas32.General) {
	if c.Data != nil {
		if _, most := magnitudesOf(c); !(most < 0x1p126) {
			q := p.general()
			defer q.release()
			q.addTo(c, z)
			return
		}
	}
	p.sums32.addTo(c, z)
}
