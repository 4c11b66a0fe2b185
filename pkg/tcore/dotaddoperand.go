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
	codes      []uint8       // nil: numbers
	number     *[256]float32 // of each code
	vertical   bool          // blocks of d.ScaleBlock elements are parts of columns, not of rows
	scales     []uint8       // codes of their scales; nil: 1
	factors    []float32     // the scales
	least      []uint32      // bits of 2^Emin times the scales
}

func (d *Device) numbers(f Format, m blas32.General) *dotAddOperand {
	return &dotAddOperand{d: d, f: f, rows: m.Rows, cols: m.Cols, numbers: m}
}

func (d *Device) codes(f Format, m Codes, vertical bool) *dotAddOperand {
	return &dotAddOperand{d: d, f: f, rows: m.Rows, cols: m.Cols, codes: m.Data, number: f.numbers(), vertical: vertical, scales: m.Scales}
}

// prepareScales finds the factors and the exponents of the blocks. What is out
// of the range of binary32, times a scale, is out of the range of a dotAdd.
func (o *dotAddOperand) prepareScales() {
	if o.scales == nil {
		o.scales = o.d.unitScales(max(o.rows, o.cols) * ((max(o.rows, o.cols)-1)/o.d.ScaleBlock + 1))
	}
	var factors [256]float32
	var least [256]uint32
	for code := range factors {
		s := o.d.Scale.Decode(uint64(code))
		factors[code] = float32(s)
		least[code] = exponentBits(min(max(o.f.Emin+math.Ilogb(s), Binary32.Emin), Binary32.Emax))
	}
	o.factors, o.least = make([]float32, len(o.scales)), make([]uint32, len(o.scales))
	for i, code := range o.scales {
		o.factors[i], o.least[i] = factors[code], least[code]
	}
}

// row stores the elements of row i from column first on in dst, times their
// scales.
func (o *dotAddOperand) row(dst []float32, i, first int) {
	if o.codes == nil {
		o.d.convertRow(dst, matrix.Row(o.numbers, i)[first:first+len(dst)], o.f)
		return
	}
	codes, number := o.codes[i*o.cols+first:][:len(dst)], o.number
	if o.vertical {
		for j, s := range o.factors[o.block(i, first):][:len(dst)] {
			dst[j] = number[codes[j]] * s
		}
		return
	}
	for j := 0; j < len(dst); j += o.d.ScaleBlock {
		s, end := o.factors[o.block(i, first+j)], min(j+o.d.ScaleBlock, len(dst))
		for l := j; l < end; l++ {
			dst[l] = number[codes[l]] * s
		}
	}
}

// block returns the index of the scale of element (i, j).
func (o *dotAddOperand) block(i, j int) int {
	if o.vertical {
		return i/o.d.ScaleBlock*o.cols + j
	}
	return i*((o.cols+o.d.ScaleBlock-1)/o.d.ScaleBlock) + j/o.d.ScaleBlock
}

// emin returns the bits of the least power of two that is the exponent of a
// number in the place of element (i, j).
func (o *dotAddOperand) emin(i, j int) uint32 {
	if o.codes == nil {
		return exponentBits(o.f.Emin)
	}
	return o.least[o.block(i, j)]
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
		x[l-lo] = float64(o.number[o.codes[row*o.cols+col]])
		if (l-lo)%o.d.ScaleBlock == 0 {
			scales = append(scales, o.d.Scale.Decode(uint64(o.scales[o.block(row, col)])))
		}
	}
	return x, scales
}
