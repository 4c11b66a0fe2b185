package tcore

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// magnitudes are the bits of the least nonzero and of the greatest magnitude of
// numbers, for 8 interleaved parts of them. A NaN is greater than all numbers.
type magnitudes struct{ least, greatest [8]uint32 }

func newMagnitudes() *magnitudes {
	m := new(magnitudes)
	for l := range m.least {
		m.least[l] = math.MaxUint32
	}
	return m
}

// add includes the elements of x.
func (m *magnitudes) add(x []float32) {
	for _, v := range x[vectorMagnitudes(m, x):] {
		if bits := math.Float32bits(v) &^ signBit32; bits != 0 {
			m.least[0], m.greatest[0] = min(m.least[0], bits), max(m.greatest[0], bits)
		}
	}
}

// magnitudesOf returns the least nonzero and the greatest magnitude of the
// elements, which is NaN if there is one. If all are zero, it returns 1 and 0.
func magnitudesOf(a blas32.General) (least, greatest float64) {
	var mu sync.Mutex
	all := newMagnitudes()
	parallel.Ranges(a.Rows, func(lo, hi int) {
		part := newMagnitudes()
		for i := lo; i < hi; i++ {
			part.add(matrix.Row(a, i))
		}
		mu.Lock()
		defer mu.Unlock()
		for l := range part.least {
			all.least[0] = min(all.least[0], part.least[l])
			all.greatest[0] = max(all.greatest[0], part.greatest[l])
		}
	})
	if all.greatest[0] == 0 {
		return 1, 0
	}
	return float64(math.Float32frombits(all.least[0])), float64(math.Float32frombits(all.greatest[0]))
}

// factorsWithin reports whether the nonzero products of finite elements of a
// and b, converted to A and B, have magnitudes in [least, most). Subnormal
// factors count as normal ones if flushed. It may report false where it is
// true.
func (d *Device) factorsWithin(a, b blas32.General, least, most float64, flushed bool) bool {
	if d.A.Sign != Signed || d.B.Sign != Signed || d.A.Subnormals == NoZero || d.B.Subnormals == NoZero {
		return false
	}
	atLeast := func(f Format, x float64) float64 {
		if flushed {
			return max(f.Round(x, ToZero), exp2(f.Emin))
		}
		return max(f.Round(x, ToZero), exp2(f.minQuantum()))
	}
	if atLeast(d.A, 0)*atLeast(d.B, 0) >= least && exp2(d.A.Emax+1)*exp2(d.B.Emax+1) <= most {
		return true
	}
	leastA, mostA := magnitudesOf(a)
	leastB, mostB := magnitudesOf(b)
	return d.A.Round(mostA, ToPositive)*d.B.Round(mostB, ToPositive) < most && atLeast(d.A, leastA)*atLeast(d.B, leastB) >= least
}
