package gpu

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A layout is a matrix as it lies in device memory: rows of elements of a type, ld apart.
type layout struct {
	rows, cols, ld int
	t              cuda.DataType
}

// newLayout pads rows to 16 bytes and, if the factors have 8 bits, everything to 16 elements.
func newLayout(rows, cols int, t cuda.DataType, eight bool) layout {
	if eight {
		rows, cols = roundUp(rows, 16), roundUp(cols, 16)
	}
	return layout{rows: rows, cols: cols, ld: roundUp(cols, 16/t.Size()), t: t}
}

func (l layout) rowBytes() int { return l.ld * l.t.Size() }
func (l layout) bytes() int    { return l.rows * l.rowBytes() }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// A view is a part of a matrix of the host, or of its transpose.
type view struct {
	m                      blas32.General
	row, col, nrows, ncols int // of the part, in the transpose if there is one
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

// encode stores rows lo to hi-1 of the view in dst as the layout has them, rounded to format f, with
// zeros beyond the view.
func (v view) encode(dst []byte, l layout, f tcore.Format, lo, hi int) {
	parallel(lo, hi, func(lo2, hi2 int) {
		x := make([]float32, l.ld)
		for i := lo2; i < hi2; i++ {
			clear(x)
			if i < v.nrows {
				v.copyRow(x, i)
			}
			encodeRow(dst[(i-lo)*l.rowBytes():][:l.rowBytes()], x, l.t, f)
		}
	})
}

// encodeRow stores x in dst as codes of f, to nearest even. It changes x.
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

// decode stores in the view what src holds of its rows lo to hi-1. The view is not a transpose.
func (v view) decode(src []byte, l layout, f tcore.Format, lo, hi int) {
	parallel(lo, min(hi, v.nrows), func(lo2, hi2 int) {
		for i := lo2; i < hi2; i++ {
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

// parallel calls work for parts of lo to hi-1, on GOMAXPROCS goroutines.
func parallel(lo, hi int, work func(lo, hi int)) {
	var wait sync.WaitGroup
	part := max(1, (hi-lo+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for start := lo; start < hi; start += part {
		wait.Go(func() { work(start, min(start+part, hi)) })
	}
	wait.Wait()
}
