package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// dotAddOperand is a factor of a product by a dotAdd: numbers that are rounded
// to a format, or codes, with scales that are powers of two.
type dotAddOperand struct {
	d          *Device
	f          Format
	rows, cols int
	numbers    blas32.General
	codes      []uint8      // nil: numbers
	values     [256]float32 // that the codes represent
	scales     []float32    // of blocks of d.ScaleBlock elements along K; nil: 1
	vertical   bool         // blocks are parts of columns, not of rows
}

func (d *Device) numbers(f Format, m blas32.General) *dotAddOperand {
	return &dotAddOperand{d: d, f: f, rows: m.Rows, cols: m.Cols, numbers: m}
}

func (d *Device) codes(f Format, m Codes, vertical bool) *dotAddOperand {
	o := &dotAddOperand{d: d, f: f, rows: m.Rows, cols: m.Cols, codes: m.Data, vertical: vertical}
	for i := range 1 << f.Bits() {
		o.values[i] = float32(f.Decode(uint64(i)))
	}
	if len(m.Scales) == 0 {
		return o
	}
	o.scales = make([]float32, len(m.Scales))
	for i, code := range m.Scales {
		o.scales[i] = float32(d.Scale.Decode(uint64(code)))
	}
	return o
}

// decoded returns the numbers of the codes, without scales.
func (o *dotAddOperand) decoded() blas32.General {
	m := matrix.New(o.rows, o.cols)
	for i, code := range o.codes {
		m.Data[i] = o.values[code]
	}
	return m
}

// row stores the elements of row i from column first on in dst, times their
// scales. An element that is out of the range of binary32 becomes one that is
// out of the range of a dotAdd.
func (o *dotAddOperand) row(dst []float32, i, first int) {
	if o.codes == nil {
		o.d.convertRow(dst, matrix.Row(o.numbers, i)[first:first+len(dst)], o.f)
		return
	}
	for j, code := range o.codes[i*o.cols+first:][:len(dst)] {
		dst[j] = o.values[code]
	}
	switch {
	case o.scales == nil:
	case o.vertical:
		for j, s := range o.scales[i/o.d.ScaleBlock*o.cols+first:][:len(dst)] {
			dst[j] = timesScale(dst[j], s)
		}
	default:
		for j := range dst {
			dst[j] = timesScale(dst[j], o.scale(i, first+j))
		}
	}
}

// timesScale returns x times a power of two s. A product of nonzero factors that
// underflows is an infinity, which is as far out of the range of a dotAdd.
func timesScale(x, s float32) float32 {
	z := x * s
	if z > -0x1p-126 && z < 0x1p-126 && x != 0 {
		return float32(math.Inf(1))
	}
	return z
}

// scale returns the scale of element (i, j).
func (o *dotAddOperand) scale(i, j int) float32 {
	switch {
	case o.scales == nil:
		return 1
	case o.vertical:
		return o.scales[i/o.d.ScaleBlock*o.cols+j]
	}
	return o.scales[i*((o.cols+o.d.ScaleBlock-1)/o.d.ScaleBlock)+j/o.d.ScaleBlock]
}

// emin returns the bits of the least power of two that is the exponent of a
// number in the place of element (i, j).
func (o *dotAddOperand) emin(i, j int) uint32 {
	e := o.f.Emin
	if s := o.scale(i, j); s == s {
		e += math.Ilogb(float64(s))
	}
	return exponentBits(max(e, Binary32.Emin))
}

// vector returns the elements [lo, hi) of row i, or of column i if vertical, as
// numbers of the format, with their scales. Beyond the end they are zero.
func (o *dotAddOperand) vector(i, lo, hi int) (x, scales []float64) {
	x = make([]float64, hi-lo)
	for l := lo; l < hi; l++ {
		row, col, end := i, l, o.cols
		if o.vertical {
			row, col, end = l, i, o.rows
		}
		if l >= end {
			break
		}
		x[l-lo] = float64(o.values[o.codes[row*o.cols+col]])
		if (l-lo)%o.d.ScaleBlock == 0 {
			scales = append(scales, float64(o.scale(row, col)))
		}
	}
	return x, scales
}
