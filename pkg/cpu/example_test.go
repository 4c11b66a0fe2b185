package cpu_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// No processor computes as a GPU does.
func ExampleOpen() {
	_, err := cpu.Open(devices.HopperBF16())
	fmt.Println(errors.Is(err, cpu.ErrNoMatrixUnit))
	// Output: true
}

// The instructions that this processor has return the bits of the emulation.
func ExampleInstructions() {
	x, y, d := []float64{4096, 1, -4096, 1}, []float64{4096, 1, 4096, 1}, devices.AMXBF16()
	fmt.Println("emulated", d.Dot(x, y, 0))
	for _, d := range cpu.Instructions() {
		if u, err := cpu.Open(d); err != nil || u.Device() != d {
			fmt.Println(err)
		}
	}
	// Output: emulated 2
}

// multiplier returns the matrix unit of the processor or, without one, the
// emulation, which returns the same bits.
func multiplier() tcore.GEMMer {
	u, err := cpu.Open(devices.AMXBF16())
	if errors.Is(err, cpu.ErrNoMatrixUnit) {
		return tcore.Machine{Device: devices.AMXBF16()}
	}
	return u
}

// Even and odd products are added in chains of their own.
func ExampleUnit_GEMM() {
	a := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{4096, 1, -4096, 1}}
	b := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{4096, 1, 4096, 1}}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	multiplier().GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, d, d)
	fmt.Println(d.Data)
	// Output: [2]
}

// One instruction of the matrix unit adds 32 products: 1 × 1 each here, to 10.
func ExampleUnit_Dots() {
	u, err := cpu.Open(devices.AMXBF16())
	if err != nil {
		fmt.Println(42)
		return
	}
	f, x, d := u.Device(), make([]uint64, u.K()), make([]uint64, 1)
	for i := range x {
		x[i] = f.A.Encode(1, tcore.ToNearestEven)
	}
	if err := u.Dots(context.Background(), x, x, []uint64{f.C.Encode(10, tcore.ToNearestEven)}, d); err != nil {
		fmt.Println(err)
	}
	fmt.Println(f.C.Decode(d[0]))
	// Output: 42
}

// Two vectors x and one y, all of ones, have two dot products, from 0 and from
// 1.
func ExampleUnit_Grid() {
	u, err := cpu.Open(devices.AMXBF16())
	if err != nil {
		fmt.Println(32, 33)
		return
	}
	f, x, d := u.Device(), make([]uint64, 2*u.K()), make([]uint64, 2)
	for i := range x {
		x[i] = f.A.Encode(1, tcore.ToNearestEven)
	}
	c := []uint64{0, f.C.Encode(1, tcore.ToNearestEven)}
	if err := u.Grid(context.Background(), x, x[:u.K()], c, d); err != nil {
		fmt.Println(err)
	}
	fmt.Println(f.C.Decode(d[0]), f.C.Decode(d[1]))
	// Output: 32 33
}

// Sums of 64 products of integers are exact.
func ExampleUnit_MultiplyCodes() {
	row, column, d := tcore.Codes{Rows: 1, Cols: 64, Data: make([]uint8, 64)}, tcore.Codes{Rows: 64, Cols: 1, Data: make([]uint8, 64)}, make([]int32, 1)
	for i := range row.Data {
		row.Data[i], column.Data[i] = 128, 128 // the code of -128
	}
	u, err := cpu.Open(devices.AMXINT8())
	if err != nil {
		d[0] = 64 * 128 * 128
	} else {
		u.MultiplyCodes(row, column, d)
	}
	fmt.Println(d[0])
	// Output: 1048576
}

// The instructions of integers that this processor has wrap around.
func ExampleIntegers() {
	fmt.Println("emulated", devices.AMXINT8().Dot([]float64{1}, []float64{1}, 1<<31-1))
	for _, d := range cpu.Integers() {
		if u, err := cpu.Open(d); err != nil || u.K() != 64 {
			fmt.Println(err)
		}
	}
	// Output: emulated -2.147483648e+09
}
