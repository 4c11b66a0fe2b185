package tcore

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// MultiplyAdd stores in z the matrix C + AB as the device computes it: every
// element is the [Device.Dot] of a row of a, a column of b and an element of c.
// The matrices are row-major, a is M × K, b is K × N, c and z are M × N. If c
// has no elements (the zero value), C is zero. z may be c and must not overlap
// the others.
//
// It runs on GOMAXPROCS goroutines; the result does not depend on their number.
// A result in a format wider than binary32 is rounded once more, to binary32.
// It panics if a shape does not fit, a matrix is empty or the core does not
// support the device.
func (d Device) MultiplyAdd(a, b, c, z blas32.General) {
	const call = "MultiplyAdd"
	checkProduct(call, a, b)
	checkResult(call, "z", a, b, z)
	if c.Data != nil {
		checkResult(call, "c", a, b, c)
	}
	d.check(call, a.Cols, b.Rows)
	p := d.prepare(a, b, c.Data != nil)
	defer p.release()
	p.addTo(c, z)
}

// prepared is AB with its operands prepared.
type prepared interface {
	addTo(c, z blas32.General) // stores C + AB in z
	release()                  // frees the memory
}

// methods prepare products, the fastest first. They return false for products
// that they do not compute. started reports whether C is given.
var methods = []func(d *Device, a, b blas32.General, started bool) (prepared, bool){
	newHalfProduct,
	newIdealProduct,
	newStageProduct,
	newOnesProduct,
	newIntegerSum,
	newIntegerBlocks,
	newThinProduct,
	newChainProduct,
	newPairwiseProduct,
	newFusedPairsProduct,
	newOddPairsProduct,
	newEvenOddProduct,
	newOddFirstProduct,
	newExactProduct,
	newFloorCountProduct,
	newAlignedProduct,
}

// prepare prepares a and b for the first method that computes their product.
func (d *Device) prepare(a, b blas32.General, started bool) prepared {
	for _, method := range methods {
		if p, ok := method(d, a, b, started); ok {
			return p
		}
	}
	return d.rowProduct(a, b)
}

// rowProduct returns the product of a and b that any device computes.
func (d *Device) rowProduct(a, b blas32.General) prepared {
	return &rowProduct{d.newMultiplier(a, b), d, a.Rows, b.Cols, a.Cols}
}

// rowProduct computes a product row by row, each sum from left to right.
type rowProduct struct {
	multiplier
	d       *Device
	m, n, k int
}

func (p *rowProduct) addTo(c, z blas32.General) {
	rows(p.m, p.n, func(part [][]float64, lo, hi int) {
		for i := lo; i < hi && c.Data != nil; i++ {
			for j, v := range matrix.Row(c, i) {
				part[i-lo][j] = p.d.C.Round(float64(v), ToNearestEven)
			}
		}
		p.multiply(part, lo, hi, 0, p.d.padded(p.k))
		for i := lo; i < hi; i++ {
			for j, v := range part[i-lo] {
				z.Data[i*z.Stride+j] = float32(v)
			}
		}
	})
}

// rows calls work for all rows of an M × N result, at most eight rows at a time
// on every goroutine. z is zero at each call.
func rows(m, n int, work func(z [][]float64, lo, hi int)) {
	const few = 8
	parallel.Ranges(m, func(lo, hi int) {
		z := newRows(few, n)
		for ; lo < hi; lo += few {
			clearRows(z)
			work(z[:min(few, hi-lo)], lo, min(lo+few, hi))
		}
	})
}

func newRows(m, n int) [][]float64 {
	z := make([][]float64, m)
	for i := range z {
		z[i] = make([]float64, n)
	}
	return z
}

func clearRows(z [][]float64) {
	for i := range z {
		clear(z[i])
	}
}
