package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// panel is one operand of a GEMM, decoded once: n vectors, the rows of A or the
// columns of B, of k numbers each, padded with zeros to whole blocks. Vector i
// begins at index i × k.
type panel struct {
	n, k   int
	x      []float64
	exp    []int16 // exponents as split returns them, but zeroFactor for a zero
	finite []bool  // whether vector i contains no infinity and no NaN
}

// zeroFactor is the exponent of a zero in a panel. It is so low that a zero
// never determines the greatest exponent of a block that contains another
// number.
const zeroFactor = -8192

// newPanel decodes m as an operand of format f. The vectors are the columns of
// m if columns is true, else its rows.
func (d *Device) newPanel(f Format, m blas32.General, columns bool) *panel {
	n, k := m.Rows, m.Cols
	if columns {
		n, k = k, n
	}
	p := &panel{n: n, k: d.padded(k)}
	p.x, p.exp, p.finite = make([]float64, n*p.k), make([]int16, n*p.k), make([]bool, n)
	parallel.Ranges(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, exp := p.vector(i)
			first, step := i*m.Stride, 1
			if columns {
				first, step = i, m.Stride
			}
			for l := range k {
				x[l] = f.Round(float64(m.Data[first+l*step]), d.Convert)
			}
			p.finite[i] = exponents(exp, x, f)
		}
	})
	return p
}

// vector returns vector i and its exponents.
func (p *panel) vector(i int) (x []float64, exp []int16) {
	lo, hi := i*p.k, (i+1)*p.k
	return p.x[lo:hi:hi], p.exp[lo:hi:hi]
}

// exponents stores the exponents of the numbers x of f in exp, and reports
// whether all are finite.
func exponents(exp []int16, x []float64, f Format) bool {
	ok := true
	for i, v := range x {
		if v == 0 {
			exp[i] = zeroFactor
			continue
		}
		e := int(math.Float64bits(v)>>52&0x7ff) - 1023
		exp[i] = int16(max(e, f.Emin))
		ok = ok && e < 1024
	}
	return ok
}
