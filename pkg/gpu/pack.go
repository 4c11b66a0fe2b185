package gpu

import (
	"encoding/binary"
	"math"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A layout describes a matrix in device memory: rows of elements of type t,
// each row ld elements after the previous one.
type layout struct {
	rows, cols, ld int
	t              cuda.DataType
}

// newLayout pads every row to a multiple of 16 bytes and, if the factors have 8
// bits, rows and columns to multiples of 16.
func newLayout(rows, cols int, t cuda.DataType, eight bool) layout {
	if eight {
		rows, cols = roundUp(rows, 16), roundUp(cols, 16)
	}
	return layout{rows: rows, cols: cols, ld: roundUp(cols, 16/t.Size()), t: t}
}

func (l layout) rowBytes() int { return l.ld * l.t.Size() }
func (l layout) bytes() int    { return l.rows * l.rowBytes() }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// A view is a part of a matrix of the host, or of the transpose of that matrix.
type view struct {
	m                      blas32.General
	row, col, nrows, ncols int // of the part; in the transpose, if transposed
	transposed             bool
}

// copyRow stores row i of the view in x.
func (v view) copyRow(x []float32, i int) {
	if !v.transposed {
		start := (v.row+i)*v.m.Stride + v.col
		copy(x, v.m.Data[start:start+v.ncols])
		return
	}
	for j := range v.ncols {
		x[j] = v.m.Data[(v.col+j)*v.m.Stride+v.row+i]
	}
}

// encode stores rows lo to hi-1 of the view in dst, arranged as in the layout
// and rounded to format f. Elements of the layout outside the view are zeros.
func (v view) encode(dst []byte, l layout, f tcore.Format, lo, hi int) {
	parallel.Ranges(hi-lo, func(from, to int) {
		x := make([]float32, l.ld)
		for i := lo + from; i < lo+to; i++ {
			clear(x)
			if i < v.nrows {
				v.copyRow(x, i)
			}
			encodeRow(dst[(i-lo)*l.rowBytes():][:l.rowBytes()], x, l.t, f)
		}
	})
}

// encodeRow stores in dst the codes of the elements of x in format f, rounded
// to nearest even. It may overwrite x.
func encodeRow(dst []byte, x []float32, t cuda.DataType, f tcore.Format) {
	if t.Size() == 4 {
		f.RoundSlice32(x, x)
	}
	for i, v := range x {
		switch t.Size() {
		case 8:
			binary.NativeEndian.PutUint64(dst[8*i:], math.Float64bits(float64(v)))
		case 4:
			binary.NativeEndian.PutUint32(dst[4*i:], math.Float32bits(v))
		case 2:
			binary.NativeEndian.PutUint16(dst[2*i:], uint16(f.Encode(float64(v), tcore.ToNearestEven)))
		case 1:
			dst[i] = byte(f.Encode(float64(v), tcore.ToNearestEven))
		}
	}
}

// decode stores in the view its rows lo to hi-1, of which src contains the
// codes. The view must not be transposed.
func (v view) decode(src []byte, l layout, f tcore.Format, lo, hi int) {
	parallel.Ranges(min(hi, v.nrows)-lo, func(from, to int) {
		for i := lo + from; i < lo+to; i++ {
			start := (v.row+i)*v.m.Stride + v.col
			decodeRow(v.m.Data[start:start+v.ncols], src[(i-lo)*l.rowBytes():], l.t, f)
		}
	})
}

func decodeRow(x []float32, src []byte, t cuda.DataType, f tcore.Format) {
	for i := range x {
		switch t.Size() {
		case 8:
			x[i] = float32(math.Float64frombits(binary.NativeEndian.Uint64(src[8*i:])))
		case 4:
			x[i] = math.Float32frombits(binary.NativeEndian.Uint32(src[4*i:]))
		case 2:
			x[i] = float32(f.Decode(uint64(binary.NativeEndian.Uint16(src[2*i:]))))
		}
	}
}
