package tolerance

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// scaled are the codes of a product on a device with scales.
type scaled struct {
	device tcore.Device
	a, b   tcore.Codes
	x, y   bound.Range
}

// MeasureScaled returns the data of codes of elements and scales, as a device
// with scales multiplies them: A and B are then the numbers that these stand
// for. Of Data that [Measure] returns, products of elements and scales, the
// scales are not known, so that bounds have to allow for more. The error names
// a number that is not finite in binary32. It panics if the device has no
// scales or the codes do not fit.
func MeasureScaled(d tcore.Device, a, b tcore.Codes) (*Data, error) {
	if d.ScaleBlock == 0 {
		panic(fmt.Sprintf("tolerance: d = %s, want a device with scales", d.Name))
	}
	blocks := (a.Cols + d.ScaleBlock - 1) / d.ScaleBlock
	if a.Cols != b.Rows || len(a.Data) != a.Rows*a.Cols || len(b.Data) != b.Rows*b.Cols || len(a.Scales) != a.Rows*blocks || len(b.Scales) != blocks*b.Cols {
		panic(fmt.Sprintf("tolerance: a is %d × %d with %d scales, b %d × %d with %d, which do not fit", a.Rows, a.Cols, len(a.Scales), b.Rows, b.Cols, len(b.Scales)))
	}
	z := &scaled{device: d, a: a, b: b}
	decode := func(m tcore.Codes, f tcore.Format, scale func(i, j int) uint8) (elements, numbers blas32.General, greatest, least float64) {
		elements, numbers, least = matrix.New(m.Rows, m.Cols), matrix.New(m.Rows, m.Cols), math.Inf(1)
		for i, code := range m.Data {
			s := d.Scale.Decode(uint64(scale(i/m.Cols, i%m.Cols)))
			x := f.Decode(uint64(code))
			elements.Data[i], numbers.Data[i] = float32(x), float32(x*s)
			greatest, least = max(greatest, s), min(least, s)
		}
		return elements, numbers, greatest, least
	}
	elementsA, x, mostA, leastA := decode(a, d.A, func(i, l int) uint8 { return a.Scales[i*blocks+l/d.ScaleBlock] })
	elementsB, y, mostB, leastB := decode(b, d.B, func(l, j int) uint8 { return b.Scales[l/d.ScaleBlock*b.Cols+j] })
	data, err := Measure(x, y)
	if err != nil {
		return nil, err
	}
	z.x, z.y = bound.RangesOf32(elementsA, elementsB)
	z.x.Scale, z.x.LeastScale, z.y.Scale, z.y.LeastScale = mostA, leastA, mostB, leastB
	data.scaled = z
	return data, nil
}

// part stores in z what the device computes of C and products lo to hi-1; of an
// empty C, of the products.
func (d *Data) part(by tcore.Device, lo, hi int, c, z blas32.General) {
	if d.scaled != nil {
		by.MultiplyAddCodes(d.scaled.a.Left(lo, hi, by.ScaleBlock), d.scaled.b.Right(lo, hi, by.ScaleBlock), c, z)
		return
	}
	by.MultiplyAdd(matrix.Columns(d.A, lo, hi), matrix.Rows(d.B, lo, hi), c, z)
}
