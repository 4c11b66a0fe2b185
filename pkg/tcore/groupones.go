package tcore

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// onesProduct is a product of codes that are its own.
type onesProduct struct {
	prepared
	x, y Codes
}

// newOnesProduct prepares a product of numbers, whose scales are 1. It returns
// false if there is no kernel for d.
func newOnesProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	kernel, ok := d.groupKernel()
	if !ok {
		return nil, false
	}
	p := &onesProduct{x: newEncoding(a), y: newEncoding(b)}
	parallel.Loops(d.encodeMatrix(p.x, kernel, d.A, a), d.encodeMatrix(p.y, kernel, d.B, b))
	p.prepared, _ = newGroupProduct(d, p.x, p.y)
	return p, true
}

func (p *onesProduct) release() {
	p.prepared.release()
	groupScratch.codes.put(p.x.Data)
	groupScratch.codes.put(p.y.Data)
}

// newEncoding returns memory for the codes of m.
func newEncoding(m blas32.General) Codes {
	return Codes{Rows: m.Rows, Cols: m.Cols, Data: groupScratch.codes.get(m.Rows * m.Cols)}
}

// encodeMatrix returns the loop that stores in z the codes of m rounded to e2m1
// by Convert.
func (d *Device) encodeMatrix(z Codes, k groupKernel, f Format, m blas32.General) parallel.Loop {
	return parallel.Loop{N: m.Rows, Work: func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src, dst, n := matrix.Row(m, i), z.Data[i*m.Cols:][:m.Cols], 0
			if d.Convert == ToNearestEven && f.Overflow == Saturate && f.Subnormals == Kept {
				n = len(src) &^ 31
			}
			if n > 0 {
				k.encode(&dst[0], &src[0], n, float32(f.Max()))
			}
			for j, x := range src[n:] {
				dst[n+j] = uint8(f.Encode(float64(x), d.Convert))
			}
		}
	}}
}
