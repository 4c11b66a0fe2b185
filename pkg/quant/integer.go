package quant

import (
	"cmp"
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// Int8 is the integers from -127 to 127, as a format whose only exponent is 6:
// 64 to 127 are its normal numbers, 0 to 63 the subnormal ones. MXInt8 is the
// same in units of 2^-6. Their codes are those of two's complement.
var (
	Int8   = tcore.Format{Name: "int8", Precision: 7, Emin: 6, Emax: 6, Specials: tcore.FiniteOnly, Overflow: tcore.Saturate}
	MXInt8 = tcore.Format{Name: "mxint8", Precision: 7, Emin: 0, Emax: 0, Specials: tcore.FiniteOnly, Overflow: tcore.Saturate}
)

// isInteger reports whether codes of f are of two's complement.
func isInteger(f tcore.Format) bool { return f.Emin == f.Emax && f.Precision == 7 }

// encode returns the code of z, a number of f.
func encode(f tcore.Format, z float64) uint8 {
	if isInteger(f) {
		return uint8(int8(z / f.MinSubnormal()))
	}
	return uint8(f.Encode(z, tcore.ToNearestEven))
}

// decode returns the number of a code of f.
func decode(f tcore.Format, code uint8) float64 {
	if isInteger(f) {
		return float64(int8(code)) * f.MinSubnormal()
	}
	return f.Decode(uint64(code))
}

// integers reports whether both matrices have codes of two's complement.
func integers(a, b *Quantised) bool {
	return isInteger(a.Recipe.Element) && isInteger(b.Recipe.Element)
}

// addIntegers stores in z the sums of the products lo to hi-1 along K: integer
// units add them exactly in int32, which is then rounded to binary32. The error
// names a sum that int32 does not hold.
func addIntegers(a, b *Quantised, lo, hi int, z blas32.General) error {
	unit := a.Recipe.Element.MinSubnormal() * b.Recipe.Element.MinSubnormal()
	columns := make([]int32, b.Cols*(hi-lo))
	for j := range b.Cols {
		for l := lo; l < hi; l++ {
			columns[j*(hi-lo)+l-lo] = int32(int8(b.Codes[l*b.Cols+j]))
		}
	}
	overflows := make([]error, a.Rows)
	parallel.Ranges(a.Rows, func(first, end int) {
		for i := first; i < end; i++ {
			row := a.Codes[i*a.Cols+lo : i*a.Cols+hi]
			for j := range b.Cols {
				sum := int64(0)
				for l, y := range columns[j*(hi-lo) : (j+1)*(hi-lo)] {
					sum += int64(int32(int8(row[l])) * y)
				}
				if sum > math.MaxInt32 || sum < math.MinInt32 {
					overflows[i] = fmt.Errorf("quant: the products of row %d of A and column %d of B add up to %d, which int32 does not hold", i, j, sum)
				}
				z.Data[i*z.Stride+j] = float32(sum) * float32(unit)
			}
		}
	})
	return cmp.Or(overflows...)
}
