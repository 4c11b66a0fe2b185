package tcore_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Code that uses a GEMMer runs on every device.
func ExampleGEMMer() {
	a := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0x1p11, 0x1p11, 0.5, 0.25}}
	b := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0x1p12, -0x1p12, -1, -1}}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	for _, k := range []tcore.GEMMer{
		tcore.Machine{Device: devices.VoltaF16()}, tcore.Machine{Device: devices.AmpereF16()}, tcore.Machine{Device: devices.HopperF16()},
	} {
		k.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		fmt.Println(d.Data[0])
	}
	// Output:
	// 0
	// -0.5
	// -0.75
}
