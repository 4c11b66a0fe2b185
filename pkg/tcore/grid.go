package tcore

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// GridCodes stores in z[in+j] the [Device.DotCodes] of vector i of x, vector j
// of y and c[in+j], for every one of m vectors x and n vectors y of k codes. It
// is as fast as [Device.MultiplyAdd] where numbers of the formats are numbers
// of binary32 and results are not NaN. z may be c.
// It panics if k is not positive, the lengths do not fit, a code has too many
// bits or the device has scales.
func (d Device) GridCodes(k int, x, y, c, z []uint64) {
	const call = "GridCodes"
	if k < 1 {
		panic(fmt.Sprintf("tcore: %s: k = %d, want at least 1", call, k))
	}
	if d.ScaleBlock > 0 {
		panic(fmt.Sprintf("tcore: %s: %s takes scales, want a device without", call, d.Name))
	}
	d.check(call, k, k)
	m, n := len(x)/k, len(y)/k
	checkLengths(call, "x", len(x), m*k)
	checkLengths(call, "y", len(y), n*k)
	checkLengths(call, "c", len(c), m*n)
	checkLengths(call, "z", len(z), m*n)
	if m == 0 || n == 0 {
		return
	}
	if _, integers := d.Core.(WrappedSum); integers {
		d.gridOfIntegers(k, x, y, c, z)
		return
	}
	a, b := d.decodeAll(d.A, x), d.decodeAll(d.B, y)
	sums, narrow := blas32.General{}, Binary32.contains(d.A) && Binary32.contains(d.B) && Binary32.contains(d.C)
	if narrow {
		sums = d.decoded32(m, n, c)
		d.MultiplyAdd(narrowed(m, k, a), matrix.Transpose(narrowed(n, k, b)), sums, sums)
	}
	parallel.Ranges(m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range n {
				e := i*n + j
				if narrow && sums.Data[e] == sums.Data[e] {
					z[e] = d.encode32(sums.Data[e])
					continue
				}
				z[e] = d.encode(d.chain(a[i*k:(i+1)*k], b[j*k:(j+1)*k], nil, nil, d.decode(d.C, c[e]), nil))
			}
		}
	})
}

// narrowed returns a matrix of numbers that are numbers of binary32.
func narrowed(rows, cols int, x []float64) blas32.General {
	z := matrix.New(rows, cols)
	narrowSlice(z.Data, x)
	return z
}

// decoded32 returns the numbers of C, all of binary32, that the codes
// represent.
func (d *Device) decoded32(rows, cols int, codes []uint64) blas32.General {
	z := matrix.New(rows, cols)
	single, half := d.C.Equal(Binary32), d.C.Equal(Binary16)
	halves := Binary16.numbers16()
	for i, code := range codes {
		switch {
		case single && code>>32 == 0:
			z.Data[i] = math.Float32frombits(uint32(code))
		case half && code>>16 == 0:
			z.Data[i] = halves[code]
		default:
			z.Data[i] = float32(d.decode(d.C, code))
		}
	}
	return z
}

// encode32 is encode of a number of binary32.
func (d *Device) encode32(z float32) uint64 {
	if d.C.Equal(Binary32) {
		return uint64(math.Float32bits(z))
	}
	return d.encode(float64(z))
}
