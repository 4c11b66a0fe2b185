package cpu

import (
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// Sums of integers are rounded to binary32, multiplied by alpha and added to
// beta C, each once, whatever lies between their rows; on every processor,
// whether it has an instruction that makes them or not.
func TestFinishRows_of_integers(t *testing.T) {
	const rows, cols, stride = 37, 5, 7
	sums := view[int32]{rows, cols, stride, make([]int32, rows*stride)}
	d := blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
	for i := range d.Data {
		sums.data[i], d.Data[i] = int32(i)-100+1<<24, float32(i)
	}
	k := kernel{device: devices.IEEEF32()}
	finish := k.finish(2, -1, d, d)
	finishRows(sums, func(i, j int, part view[int32]) { finish(i, j, inBinary32(part)) })
	for e, got := range d.Data {
		want := float32(e)
		if e%stride < cols {
			want = float32(2*float32(int32(e)-100+1<<24)) - float32(e)
		}
		if got != want {
			t.Errorf("(%d, %d) is %v, want %v", e/stride, e%stride, got, want)
		}
	}
}
