package gpu

import (
	"testing"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// The padding of a product consists of zeros, in columns and in rows, whatever
// the memory contained before.
func TestPadding(t *testing.T) {
	m := blas32.General{Rows: 3, Cols: 5, Stride: 5, Data: make([]float32, 15)}
	for i := range m.Data {
		m.Data[i] = float32(i + 1)
	}
	for _, transposed := range []bool{false, true} {
		v := view{m: m, nrows: 3, ncols: 5, transposed: transposed}
		if transposed {
			v.nrows, v.ncols = 5, 3
		}
		l := newLayout(v.nrows, v.ncols, cuda.E4M3, true)
		dst := make([]byte, l.bytes())
		for i := range dst {
			dst[i] = 0xff
		}
		v.encode(dst, l, tcore.E4M3, 0, l.rows)
		for i := range l.rows {
			for j := range l.ld {
				want := 0.0
				if i < v.nrows && j < v.ncols {
					want = float64(m.Data[min(i, 2)*5+j])
					if transposed {
						want = float64(m.Data[j*5+i])
					}
					want = tcore.E4M3.Round(want, tcore.ToNearestEven)
				}
				if got := tcore.E4M3.Decode(uint64(dst[i*l.rowBytes()+j])); got != want {
					t.Fatalf("transposed %v: element %d, %d is %v, want %v", transposed, i, j, got, want)
				}
			}
		}
	}
}
