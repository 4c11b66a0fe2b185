package tcore

import "gonum.org/v1/gonum/blas/blas32"

// multiplier computes a matrix product whose operands are prepared.
type multiplier interface {
	// multiply continues the sums z[i-rowLo][j] += Σ aᵢₗ bₗⱼ by the terms l in [lo,
	// hi), which are whole blocks, for the rows i in [rowLo, rowHi) of A. z
	// contains numbers of C: c before the call and d after it.
	multiply(z [][]float64, rowLo, rowHi, lo, hi int)

	// release frees the memory of the multiplier, which must not be used
	// afterwards.
	release()
}

// newMultiplier prepares a and b for a multiplier of d in pure Go.
func (d *Device) newMultiplier(a, b blas32.General) multiplier {
	if plain, ok := d.unscaled(); ok && d.ScaleBlock > 0 {
		return plain.newMultiplier(a, b)
	}
	if core, ok := d.Core.(Split); ok {
		return newSplitProduct(d, core, a, b)
	}
	return &panelProduct{d, d.newPanel(d.A, a, false), d.newPanel(d.B, b, true)}
}

// padded returns k rounded up to whole blocks.
func (d *Device) padded(k int) int {
	w := d.Core.width()
	return (k + w - 1) / w * w
}

// panelProduct computes a product element by element.
type panelProduct struct {
	d    *Device
	x, y *panel
}

func (p *panelProduct) release() {}

func (p *panelProduct) multiply(z [][]float64, rowLo, rowHi, lo, hi int) {
	fast, isFused := newFusedKernel(p.d)
	_, isChain := p.d.Core.(Chain)
	pairwise, isPairwise := p.d.Core.(Pairwise)
	exact, isExact := p.d.Core.(ExactSum)
	in32 := p.d.C.Equal(Binary32) && Binary32.contains(p.d.A) && Binary32.contains(p.d.B)
	for i := rowLo; i < rowHi; i++ {
		xi, ex := p.x.vector(i)
		for j := range p.y.n {
			yj, ey := p.y.vector(j)
			c := &z[i-rowLo][j]
			switch {
			case isFused && p.x.finite[i] && p.y.finite[j]:
				*c = fast.chain(xi[lo:hi], yj[lo:hi], ex[lo:hi], ey[lo:hi], *c)
			case isChain && p.d.C.Equal(Binary64):
				*c = chain64(xi[lo:hi], yj[lo:hi], *c)
			case isChain && in32:
				*c = chain32(xi[lo:hi], yj[lo:hi], *c)
			case isPairwise && in32:
				*c = pairwise.chain32(p.d, xi[lo:hi], yj[lo:hi], *c)
			case isExact && exact.fits64(p.d):
				*c = exact.chain64(p.d, xi[lo:hi], yj[lo:hi], *c)
			default:
				*c = p.d.chain(xi[lo:hi], yj[lo:hi], nil, nil, *c, nil)
			}
		}
	}
}
