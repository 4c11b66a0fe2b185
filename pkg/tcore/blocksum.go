package tcore

import (
	"fmt"
	"iter"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// BlockSum summarises one block of a chain of [Fused] sums: a [TraceBlock]
// without its terms.
type BlockSum struct {
	Exponent int     // E*, the exponent to which all terms are aligned
	Kept     float64 // sum of the truncated terms, before it is rounded
	Result   float64 // Kept rounded: c of the next block
	Lost     float64 // sum of the parts of the products and of c that the truncation discards
	Signs    int     // number of positive products minus number of negative ones
	Size     float64 // Σ|xy|
}

// Error returns the error of the block, Result - (c + Σxy): the error of the
// final rounding minus what the truncation discards.
func (b BlockSum) Error() float64 { return b.Result - b.Kept - b.Lost }

// BlockSums returns the blocks of every element of AB, as [Device.MultiplyAdd]
// computes it, row by row. Each slice is valid only until the next one is
// yielded. The errors of the blocks of an element add up to the error of the
// element, up to rounding in binary64. The cost is a few times that of a GEMM
// on one core. It returns an error that names the first element of a or b that
// is not finite in A or B. It panics if the matrices do not fit or are empty,
// or if the core is not a [Fused] of single products without scales.
func (d Device) BlockSums(a, b blas32.General) (iter.Seq[[]BlockSum], error) {
	checkProduct("BlockSums", a, b)
	d.check("BlockSums", a.Cols, b.Rows)
	f, ok := d.Core.(Fused)
	if !ok || f.Group > 0 || d.ScaleBlock > 0 {
		panic(fmt.Sprintf("tcore: BlockSums: device %q, want a Fused core without groups and scales", d.Name))
	}
	roundedA, roundedB, release := d.factors(a, b)
	defer release()
	for _, factor := range []struct {
		name string
		blas32.General
	}{{"a", roundedA}, {"b", roundedB}} {
		if i, j, found := matrix.NotFinite(factor.General); found {
			return nil, fmt.Errorf("tcore: %s[%d, %d] = %v, want a finite number", factor.name, i, j, matrix.Row(factor.General, i)[j])
		}
	}
	x, y := d.newPanel(d.A, a, false), d.newPanel(d.B, b, true)
	return func(yield func([]BlockSum) bool) {
		blocks := make([]BlockSum, x.k/f.Terms)
		for i := range x.n {
			for j := range y.n {
				f.blockSums(&d, blocks, x, y, i, j)
				if !yield(blocks) {
					return
				}
			}
		}
	}, nil
}

// blockSums stores the blocks of element (i, j) in blocks.
func (f *Fused) blockSums(d *Device, blocks []BlockSum, x, y *panel, i, j int) {
	u, eu := x.vector(i)
	v, ev := y.vector(j)
	c := 0.0
	for k := range blocks {
		lo, hi := k*f.Terms, (k+1)*f.Terms
		blocks[k] = f.blockSum(d, u[lo:hi], v[lo:hi], eu[lo:hi], ev[lo:hi], c)
		c = blocks[k].Result
	}
}

// blockSum computes Fused.sum and summarises it. The products and Kept are
// exact in binary64; Lost and Size are rounded sums. It calls slowBlockSum
// where E* is out of the range in which this holds.
func (f *Fused) blockSum(d *Device, x, y []float64, ex, ey []int16, c float64) BlockSum {
	_, top := d.C.split(c)
	if c == 0 {
		top = f.ZeroExponent
	}
	ey = ey[:len(ex)]
	for i, e := range ex {
		top = max(top, int(e+ey[i]))
	}
	if f.ClampAlways || top <= f.ZeroExponent || top > 900 || f.room() > 53 {
		return f.slowBlockSum(d, x, y, c)
	}
	scale := math.Float64frombits(uint64(1023+f.FractionBits-top) << 52)
	unit := math.Float64frombits(uint64(1023+top-f.FractionBits) << 52)
	s := float64(c * scale)
	total := int64(s)
	lost, size, signs := s-float64(total), 0.0, 0
	y = y[:len(x)]
	for i, v := range x {
		p := float64(v * y[i])
		q := float64(p * scale)
		n := int64(q)
		total += n
		lost += q - float64(n)
		size += math.Abs(p)
		signs += sign(p)
	}
	return BlockSum{
		Exponent: top,
		Kept:     float64(total) * unit,
		Result:   f.round(total, top-f.FractionBits),
		Lost:     lost * unit,
		Signs:    signs,
		Size:     size,
	}
}

// slowBlockSum computes the summary from a trace of the block.
func (f *Fused) slowBlockSum(d *Device, x, y []float64, c float64) BlockSum {
	b := block{x: x, y: y, c: c}
	t := newTraceBlock(0, b)
	t.finish(f.sum(d, b, &t))
	z := BlockSum{Exponent: t.Exponent, Kept: t.Sum, Result: t.Result}
	for _, m := range t.Terms {
		z.Lost += m.Lost
		if m.Index >= 0 {
			z.Size += math.Abs(m.Value)
			z.Signs += sign(m.Value)
		}
	}
	return z
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
