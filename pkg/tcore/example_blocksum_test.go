package tcore_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Volta tensor core adds eight products of about 0.3 to a million. It
// truncates each at 2^-4, the weight of the last bit kept. The error is exactly
// minus the sum of the discarded parts.
func ExampleDevice_BlockSums() {
	a := blas32.General{Rows: 1, Cols: 12, Stride: 12, Data: []float32{1000, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3}}
	b := blas32.General{Rows: 12, Cols: 1, Stride: 1, Data: []float32{1000, 0, 0, 0, .1, .1, .1, .1, .1, .1, .1, .1}}
	outputs, err := devices.VoltaF16().BlockSums(a, b)
	if err != nil {
		panic(err)
	}
	for blocks := range outputs {
		for _, s := range blocks {
			fmt.Printf("E* = %d  kept %.4f  lost %.4f  result %.4f  error %.4f\n", s.Exponent, s.Kept, s.Lost, s.Result, s.Error())
		}
	}
	// Output:
	// E* = 18  kept 1000000.0000  lost 0.0000  result 1000000.0000  error 0.0000
	// E* = 19  kept 1000001.0000  lost 0.1997  result 1000001.0000  error -0.1997
	// E* = 19  kept 1000002.0000  lost 0.1997  result 1000002.0000  error -0.1997
}

func ExampleBlockSum_Error() {
	s := tcore.BlockSum{Kept: 3, Result: 2, Lost: 0.25}
	fmt.Println(s.Error())
	// Output:
	// -1.25
}
