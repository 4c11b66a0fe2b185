package tolerance_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tolerance"
	"gonum.org/v1/gonum/blas/blas32"
)

// A kernel forgets the last 8 of 1000 products.
func Example() {
	d := devices.HopperF16()
	a, b := drawn(16, 1000, 0, d.A, 1), drawn(1000, 16, 0, d.B, 2)
	data, err := tolerance.Measure(a, b)
	if err != nil {
		panic(err)
	}
	t, err := data.Of(tolerance.Implementation{Machine: tcore.Machine{Device: d}}, roundoff.FailureOf(0.999999))
	if err != nil {
		panic(err)
	}
	got := run(tcore.Machine{Device: d}, matrix.Columns(a, 0, 992), matrix.Rows(b, 0, 992))
	r := t.Compare(got)
	fmt.Println(r.Within(), r.Causes[0])
	// Output: false the last 8 of 1000 products are missing, from 992 on
}

// one is the product 1·1 + 1·1 + 2⁻²⁸, which binary32 has no bits for.
func one() *tolerance.Data {
	x := []float32{1, 1, 0x1p-14}
	data, err := tolerance.Measure(blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: x}, blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: x})
	if err != nil {
		panic(err)
	}
	return data
}

func tolerated(by tolerance.Implementation) *tolerance.Tolerance {
	t, err := one().Of(by, roundoff.Never)
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleMeasure() {
	data := one()
	fmt.Println(data.Exact.Data[0] == 2+0x1p-28, data.Sizes.Data[0] == 2+0x1p-28)
	// Output: true true
}

// Elements of e4m3 with scales of 1, one for a row and a column.
func ExampleMeasureScaled() {
	d := devices.BlackwellMXE4M3()
	one, scale := uint8(d.A.Encode(1, tcore.ToNearestEven)), uint8(d.Scale.Encode(1, tcore.ToNearestEven))
	data, err := tolerance.MeasureScaled(d, tcore.Codes{Rows: 1, Cols: 2, Data: []uint8{one, one}, Scales: []uint8{scale}},
		tcore.Codes{Rows: 2, Cols: 1, Data: []uint8{one, one}, Scales: []uint8{scale}})
	fmt.Println(data.Exact.Data, err)
	// Output: [2] <nil>
}

func ExampleData_Of() {
	t := tolerated(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}})
	fmt.Printf("%.2g by %s, %v\n", t.Limits.Data[0], t.Bound.Bound, t.Confidence == roundoff.Never)
	// Output: 1.2e-06 by truncation, true
}

func ExampleTolerance_Compare() {
	t := tolerated(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}})
	got := matrix.New64(1, 1)
	got.Data[0] = 2.5
	fmt.Println(t.Compare(got))
	// Output:
	// 1 of 1 outputs are beyond their tolerance
	//   [0, 0] is 2.5, want 2 ± 1.2e-06: off by 0.5, 4.19e+05 times the tolerance
	// what would explain it:
	//   one bit is flipped, of binary32, in place 21 of [0, 0]
}

func ExampleTolerance_CompareWith() {
	by := tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}}
	other := tolerance.Implementation{Machine: tcore.Machine{Device: devices.VoltaF16()}}
	got, want := matrix.New64(1, 1), matrix.New64(1, 1)
	got.Data[0], want.Data[0] = 2, 2+0x1p-22
	fmt.Println(tolerated(by).CompareWith(got, want, tolerated(other)).Within())
	// Output: true
}

func ExampleTolerance_Emulate() {
	all, err := tolerated(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}}).Emulate()
	fmt.Println(len(all), all[0].Parts, all[0].Bits.Data, err)
	// Output: 1 1 [2] <nil>
}

func ExampleTolerance_CompareEmulated() {
	t := tolerated(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}})
	all, err := t.Emulate()
	if err != nil {
		panic(err)
	}
	got := matrix.New64(1, 1)
	got.Data[0] = 2 + 0x1p-22
	r, _ := t.CompareEmulated(got, all, true)
	fmt.Println(t.Compare(got).Within(), r.Within())
	// Output: true false
}

func ExampleConstantOf() {
	c, err := tolerance.ConstantOf(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}, Orders: tolerance.AnyOrder}, 4096)
	fmt.Printf("%s %.3g, %v\n", c.Bound, c.Relative, err)
	// Output: all-orders 0.00061, <nil>
}

func ExampleConstant_C() {
	fmt.Println(tolerance.Constant{Device: "volta-mma-binary16-binary32", K: 64}.C())
	// Output: ROUNDOFF_VOLTA_MMA_BINARY16_BINARY32_K64
}

func ExampleOrders_String() {
	fmt.Println(tolerance.UnknownSplit, tolerance.OneMachine, tolerance.AnyOrder)
	// Output: split machine any
}

func ExampleElement_Excess() {
	fmt.Println(tolerance.Element{Error: 3, Limit: 2}.Excess())
	// Output: 1.5
}

func ExampleReport_Within() {
	fmt.Println(tolerance.Report{Outputs: 4}.Within())
	// Output: true
}

func ExampleReport_String() {
	fmt.Println(tolerance.Report{Outputs: 4, Largest: 0.5})
	// Output: all 4 outputs are within their tolerance, at most 0.5 of it
}

func ExampleCause_String() {
	fmt.Println(tolerance.Cause{Name: "zeros", Words: "they are 0", Explains: 0.75})
	// Output: they are 0 (75 % of them)
}
