package cpu

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// lanes is the number of elements of a vector of binary16.
const lanes = 32

// laneDots is Dots for an instruction that adds one product to each lane, at
// most lanes of them.
func (k *kernel) laneDots(x, y, c, d []uint64) {
	var sums, u, v [lanes]uint16
	for i := range d {
		sums[i], u[i], v[i] = uint16(c[i]), uint16(x[i]), uint16(y[i])
	}
	k.lanes(&sums[0], &u[0], &v[0], 1)
	for i := range d {
		d[i] = uint64(sums[i])
	}
}

// laneProduct returns AB for such an instruction, whose lanes have columns of
// b.
func (k *kernel) laneProduct(a, b blas32.General) blas32.General {
	sums := matrix.New(a.Rows, b.Cols)
	parallel.Ranges((b.Cols+lanes-1)/lanes, func(lo, hi int) {
		n := min(a.Cols, depth)
		x, y := make([]uint16, n*lanes), make([]uint16, n*lanes)
		for strip := lo; strip < hi; strip++ {
			first, end := strip*lanes, min((strip+1)*lanes, b.Cols)
			part := make([]uint16, a.Rows*lanes)
			for l := 0; l < a.Cols; l += n {
				terms := min(n, a.Cols-l)
				for t := range terms {
					for j := first; j < end; j++ {
						y[t*lanes+j-first] = half(b.Data[(l+t)*b.Stride+j])
					}
				}
				for i := range a.Rows {
					for t := range terms {
						v := half(a.Data[i*a.Stride+l+t])
						for j := range lanes {
							x[t*lanes+j] = v
						}
					}
					k.lanes(&part[i*lanes], &x[0], &y[0], terms)
				}
			}
			for i := range a.Rows {
				for j := first; j < end; j++ {
					sums.Data[i*sums.Stride+j] = float32(tcore.Binary16.Decode(uint64(part[i*lanes+j-first])))
				}
			}
		}
	})
	return sums
}

// half returns the code of x rounded to binary16, to nearest even.
func half(x float32) uint16 {
	return uint16(tcore.Binary16.Encode(float64(x), tcore.ToNearestEven))
}
