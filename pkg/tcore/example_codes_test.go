package tcore_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas32"
)

// quantize returns NVFP4 codes of x, of at most 16 numbers: the scale maps the
// greatest magnitude to 6, the greatest number of e2m1.
func quantize(x []float64) (codes []uint8, scale uint8) {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	code := tcore.UE4M3.Encode(most/tcore.E2M1.Max(), tcore.ToNearestEven)
	for _, v := range x {
		y := v / tcore.UE4M3.Decode(code)
		codes = append(codes, uint8(tcore.E2M1.Encode(y, tcore.ToNearestEven)))
	}
	return codes, uint8(code)
}

// The factors of an NVFP4 product are codes of 4 bits, with a scale for every
// 16 of them along K. Here both are a vector of four numbers, whose last one is
// rounded to 3, so that the product is 0.25² + 1² + 2² + 3².
func ExampleDevice_MultiplyAddCodes() {
	codes, scale := quantize([]float64{0.25, -1, 2, 3.04})
	fmt.Printf("codes % x, scale %v\n", codes, tcore.UE4M3.Decode(uint64(scale)))
	a := tcore.Codes{Rows: 1, Cols: 4, Data: codes, Scales: []uint8{scale}}
	b := tcore.Codes{Rows: 4, Cols: 1, Data: codes, Scales: []uint8{scale}}
	z := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}

	devices.BlackwellNVF4().MultiplyAddCodes(a, b, blas32.General{}, z)
	fmt.Println(z.Data[0])
	// Output:
	// codes 01 0c 06 07, scale 0.5
	// 14.0625
}

// A library that sums K in two parts, on the same codes.
func ExampleMachine_GEMMCodes() {
	const k = 128
	a, b := tcore.Codes{Rows: 1, Cols: k, Data: make([]uint8, k)}, tcore.Codes{Rows: k, Cols: 1, Data: make([]uint8, k)}
	for i := range k {
		a.Data[i], b.Data[i] = uint8(tcore.E2M1.Encode(3, tcore.ToNearestEven)), uint8(tcore.E2M1.Encode(1.5, tcore.ToNearestEven))
	}
	c := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{100}}
	m := tcore.Machine{Device: devices.BlackwellNVF4(), SplitK: 2}
	m.GEMMCodes(0.5, a, b, 1, c, c) // without scales: they are 1
	fmt.Println(c.Data[0])
	// Output: 388
}

// A sum of 32 products in two parts, each with the scales of its own blocks: 16
// times 1 × 1, and 16 times 1 × 2.
func ExampleCodes_Left() {
	const k, block = 32, 16
	one, two := uint8(tcore.UE4M3.Encode(1, tcore.ToNearestEven)), uint8(tcore.UE4M3.Encode(2, tcore.ToNearestEven))
	codes := bytes.Repeat([]byte{uint8(tcore.E2M1.Encode(1, tcore.ToNearestEven))}, k)
	a := tcore.Codes{Rows: 1, Cols: k, Data: codes, Scales: []uint8{one, one}}
	b := tcore.Codes{Rows: k, Cols: 1, Data: codes, Scales: []uint8{one, two}}
	z := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	for lo := 0; lo < k; lo += block {
		devices.BlackwellNVF4().MultiplyAddCodes(a.Left(lo, lo+block, block), b.Right(lo, lo+block, block), blas32.General{}, z)
		fmt.Println(z.Data[0])
	}
	// Output:
	// 16
	// 32
}

// Each row of two blocks of 16 keeps the scale of its block and column.
func ExampleCodes_Right() {
	b := tcore.Codes{Rows: 32, Cols: 2, Data: make([]uint8, 64), Scales: []uint8{1, 2, 3, 4}}
	second := b.Right(16, 32, 16)
	fmt.Println(second.Rows, second.Cols, second.Scales)
	// Output: 16 2 [3 4]
}

// The codes of bfloat16 are the upper halves of numbers of binary32. They are
// multiplied as they are: 1, 2^-126 and 2^-127, which AMX takes for 0, times 1,
// 2^126 and 2^126.
func ExampleCodes() {
	row := tcore.Codes{Rows: 1, Cols: 3, Data16: []uint16{0x3f80, 0x0080, 0x0040}}
	column := tcore.Codes{Rows: 3, Cols: 1, Data16: []uint16{0x3f80, 0x7e80, 0x7e80}}
	z := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	devices.AMXBF16().MultiplyAddCodes(row, column, blas32.General{}, z)
	fmt.Println(z.Data[0])
	// Output: 2
}
