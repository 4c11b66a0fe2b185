package tcore

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// multiplier computes a product, its operands prepared.
type multiplier interface {
	// multiply carries on the chains z[i-rowLo][j] += Σ aᵢₗ bₗⱼ over the terms l
	// in [lo, hi), whole blocks, for the rows i in [rowLo, rowHi) of A. z holds
	// numbers of C, c before and d after.
	multiply(z [][]float64, rowLo, rowHi, lo, hi int)
}

// newMultiplier prepares a and b.
func (d *Device) newMultiplier(a, b blas32.General) multiplier {
	if core, ok := d.Core.(Fused); ok && core.Group == 0 && d.ScaleBlock > 0 {
		plain := *d // with scales of 1, which change no exponent
		plain.ScaleBlock = 0
		return plain.newMultiplier(a, b)
	}
	if core, ok := d.Core.(Split); ok {
		return newSplitProduct(d, core, a, b)
	}
	if p, ok := newDotAddProduct(d, a, b); ok {
		return p
	}
	return &panelProduct{d, d.newPanel(d.A, a, false), d.newPanel(d.B, b, true)}
}

// padded returns K filled up to whole blocks.
func (d *Device) padded(k int) int {
	w := d.Core.width()
	return (k + w - 1) / w * w
}

// panelProduct computes a product number by number.
type panelProduct struct {
	d    *Device
	x, y *panel
}

func (p *panelProduct) multiply(z [][]float64, rowLo, rowHi, lo, hi int) {
	fast, isFused := newFusedKernel(p.d)
	_, isChain := p.d.Core.(Chain)
	pairwise, isPairwise := p.d.Core.(Pairwise)
	in32 := p.d.C.same(Binary32) && Binary32.contains(p.d.A) && Binary32.contains(p.d.B)
	for i := rowLo; i < rowHi; i++ {
		xi, ex := p.x.vector(i)
		for j := range p.y.n {
			yj, ey := p.y.vector(j)
			c := &z[i-rowLo][j]
			switch {
			case isFused && p.x.finite[i] && p.y.finite[j]:
				*c = fast.chain(xi[lo:hi], yj[lo:hi], ex[lo:hi], ey[lo:hi], *c)
			case isChain && p.d.C.same(Binary64):
				*c = chain64(xi[lo:hi], yj[lo:hi], *c)
			case isChain && in32:
				*c = chain32(xi[lo:hi], yj[lo:hi], *c)
			case isPairwise && in32:
				*c = pairwise.chain32(p.d, xi[lo:hi], yj[lo:hi], *c)
			default:
				*c = p.d.chain(xi[lo:hi], yj[lo:hi], nil, nil, *c, nil)
			}
		}
	}
}

// chain64 is the chain of a [Chain] in binary64.
func chain64(x, y []float64, c float64) float64 {
	y = y[:len(x)]
	for i, v := range x {
		c = math.FMA(v, y[i], c)
	}
	return c
}

// chain32 is the chain of a [Chain] in binary32.
func chain32(x, y []float64, c float64) float64 {
	s := float32(c)
	y = y[:len(x)]
	for i, v := range x {
		s = fma32(float32(v), float32(y[i]), s)
	}
	return float64(s)
}

// splitProduct computes the product of a [Split] by that of its binary16
// instruction, on matrices whose terms are in the order it takes them.
type splitProduct struct {
	d    *Device
	half multiplier
}

func newSplitProduct(d *Device, core Split, a, b blas32.General) *splitProduct {
	half := *d
	half.A, half.B, half.Core = Binary16, Binary16, core.By
	w := core.width()
	order := splitOrder(w, d.padded(a.Cols))
	x, y := d.rounded(d.A, a), d.rounded(d.B, b)
	ordered := blas32.General{Rows: a.Rows, Cols: len(order), Stride: len(order), Data: make([]float32, a.Rows*len(order))}
	for i := range a.Rows {
		for l, k := range order {
			if k < a.Cols {
				ordered.Data[i*ordered.Stride+l] = x.Data[i*x.Stride+k]
			}
		}
	}
	columns := blas32.General{Rows: len(order), Cols: b.Cols, Stride: b.Cols, Data: make([]float32, len(order)*b.Cols)}
	for l, k := range order {
		if k < b.Rows {
			copy(row(columns, l), row(y, k))
		}
	}
	return &splitProduct{d, half.newMultiplier(ordered, columns)}
}

// splitOrder returns the indices of n terms in the order in which instructions
// of w terms, each by two, take them.
func splitOrder(w, n int) []int {
	order := make([]int, 0, n)
	for start := 0; start < n; start += w {
		for part := range 2 {
			for k := start; k < start+w; k++ {
				if (k-start)%4/2 == part {
					order = append(order, k)
				}
			}
		}
	}
	return order
}

func (p *splitProduct) multiply(z [][]float64, rowLo, rowHi, lo, hi int) {
	w := p.d.Core.width()
	if half, ok := p.half.(*dotAddProduct); ok {
		half.multiplySplit(z, rowLo, rowHi, lo, hi, w)
		return
	}
	sum := newRows(len(z), len(z[0]))
	for ; lo < hi; lo += w {
		clearRows(sum)
		p.half.multiply(sum, rowLo, rowHi, lo, lo+w)
		for i := range z {
			for j, s := range sum[i] {
				z[i][j] = p.add(s, z[i][j])
			}
		}
	}
}

// add returns x + y rounded to C. The sum of two binary16 numbers is exact in
// binary64.
func (p *splitProduct) add(x, y float64) float64 {
	switch {
	case p.d.C.same(Binary32):
		return float64(float32(x) + float32(y))
	case p.d.C.same(Binary16):
		return round16(x + y)
	}
	return p.d.C.Add(x, y, ToNearestEven)
}
