package exact_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The sum 10⁸ × 10⁸ + 10⁻⁸ × 10⁻⁸ - 10⁸ × 10⁸ without rounding. float32
// represents 10⁸ exactly and 10⁻⁸ approximately.
func ExampleGEMM() {
	a := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1e8, 1e-8, -1e8}}
	b := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1e8, 1e-8, 1e8}}
	z, err := exact.GEMM(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("exact  ", z.At(0, 0))
	fmt.Println("float64", tcore.Float64GEMM(a, b).Data[0])
	// Output:
	// exact   9.999999878450580951e-17
	// float64 0
}

// The condition number of an inner product is |x|ᵀ|y| / |xᵀy|.
func ExampleAbsGEMM() {
	x := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 2, -3}}
	y := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{4, 4, 3.75}}
	xy, err := exact.GEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	absolute, err := exact.AbsGEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(absolute.Float64().Data[0] / math.Abs(xy.Float64().Data[0]))
	// Output: 31
}

// Both products at once.
func ExampleGEMMs() {
	x := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 2, -3}}
	y := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{4, 4, 3.75}}
	xy, absolute, err := exact.GEMMs(x, y)
	fmt.Println(xy.At(0, 0), absolute.At(0, 0), err)
	// Output: 0.75 23.25 <nil>
}

// The product of numbers as a binary16 unit takes them.
func ExampleGEMMsOf() {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.1, -0.1}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{3, 1}}
	xy, absolute, err := exact.GEMMsOf(x, y, tcore.Binary16.RoundSlice32, nil)
	fmt.Println(xy.At(0, 0), absolute.At(0, 0), err)
	// Output: 0.199951171875 0.39990234375 <nil>
}

// The forward error of a computed product, against the exact one.
func ExampleMatrix() {
	a := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{1, 0.5, 0.25, 0.125}}
	b := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 1. / 1024, 1. / 1024, 1. / 1024}}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	devices.PaperCoreF16().MultiplyAdd(a, b, blas32.General{}, d)

	z, err := exact.GEMM(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("d = %v, exact %v, error %v\n", d.Data[0], z.At(0, 0), z.Error(d).Data[0])
	// Output: d = 1, exact 1.0008544921875, error -0.0008544921875
}

// float64 cannot represent 1 + 2⁻⁶⁰; At returns all its digits.
func ExampleMatrix_At() {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 1. / (1 << 30)}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 1. / (1 << 30)}}
	z, err := exact.GEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(z.At(0, 0).Text('f', 60))
	// Output: 1.000000000000000000867361737988403547205962240695953369140625
}

func ExampleMatrix_Float64() {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.5, 1e-20}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0.5, 1e-20}}
	z, err := exact.GEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(z.Float64().Data)
	// Output: [0.25]
}

// 1 + 2⁻⁶⁰ rounds to 1 in binary64.
func ExampleMatrix_Error64() {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 1. / (1 << 30)}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 1. / (1 << 30)}}
	d := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
	z, err := exact.GEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(z.Error64(d).Data[0] == -math.Ldexp(1, -60))
	// Output: true
}

// Error resolves an error far below the last digit of float64.
func ExampleMatrix_Error() {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.5, 1. / (1 << 40)}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0.5, 1. / (1 << 40)}}
	d := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{0.25}}
	z, err := exact.GEMM(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(z.Error(d).Data[0] == -math.Ldexp(1, -80))
	// Output: true
}
