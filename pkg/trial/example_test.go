package trial_test

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// The largest |D̂ - D| / (|A||B|) of 64 × 8 outputs is below the constant of a
// bound that is valid for every machine that truncates.
func Example() {
	p := bound.Problem{M: 64, N: 8, K: 1024, Machine: tcore.Machine{Device: devices.HopperF16()}}
	t, err := trial.Run(p, sweep.Symmetric, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	β := bound.Truncation.Constant(p, roundoff.Never).Constant
	fmt.Printf("%.1e <= %.1e: %v\n", slices.Max(t.Backward()), β, slices.Max(t.Backward()) <= β)
	// Output:
	// 1.7e-07 <= 3.8e-05: true
}

var (
	row    = blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 2, -3}}
	one    = blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
	column = blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{4, 4, 3.75}}
)

// A split of K and a conversion of D are part of the measured machine.
func ExampleRun() {
	for _, m := range []tcore.Machine{
		{Name: "Hopper", Device: devices.HopperF16()},
		{Name: "in 16 parts", Device: devices.HopperF16(), SplitK: 16},
		{Name: "to bfloat16", Device: devices.HopperF16(), Output: tcore.BFloat16},
	} {
		t, err := trial.Run(bound.Problem{M: 16, N: 16, K: 4096, Machine: m}, sweep.Positive, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-11s  %.1e\n", m.Name, slices.Max(t.Backward()))
	}
	// Output:
	// Hopper       2.4e-05
	// in 16 parts  1.3e-06
	// to bfloat16  3.8e-03
}

func ExampleOf() {
	p, err := trial.Of(row, column)
	fmt.Println(p.Values, p.Sizes(), p.Conditions(), err)
	// Output:
	// [0.75] [23.25] [31] <nil>
}

// A device multiplies the matrices after conversion: 0.1 is not representable
// in binary16.
func ExampleOn() {
	tenth := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{0.1}}
	p, err := trial.On(devices.HopperF16(), tenth, tenth)
	fmt.Println(p.Values, err)
	// Output:
	// [0.009995117783546448] <nil>
}

// Several machines multiply the same matrices.
func ExampleProduct_Run() {
	p, _ := trial.Of(row, column)
	for _, d := range []tcore.Device{devices.VoltaF16(), devices.HopperE4M3()} {
		fmt.Println(p.Run(tcore.Machine{Device: d}).Errors)
	}
	// Output:
	// [0]
	// [0]
}

func ExampleProduct_Sizes() {
	p, _ := trial.Of(row, column)
	fmt.Println(p.Sizes())
	// Output:
	// [23.25]
}

func ExampleProduct_Conditions() {
	p, _ := trial.Of(row, column)
	fmt.Println(p.Conditions())
	// Output:
	// [31]
}

// A result that another library computed can be compared as well.
func ExampleProduct_Compare() {
	p, _ := trial.Of(row, column)
	fmt.Println(p.Compare(one).Errors)
	// Output:
	// [0.25]
}

func ExampleTrial_Backward() {
	p, _ := trial.Of(row, column)
	fmt.Printf("%.4f\n", p.Compare(one).Backward())
	// Output:
	// [0.0108]
}

func ExampleTrial_Relative() {
	p, _ := trial.Of(row, column)
	fmt.Printf("%.4f\n", p.Compare(one).Relative())
	// Output:
	// [0.3333]
}

// Two given matrices can serve as data.
func ExampleMatrices() {
	p := bound.Problem{M: 1, N: 1, K: 3, Machine: tcore.Machine{Device: devices.VoltaF16()}}
	t, err := trial.Run(p, trial.Matrices{A: row, B: column}, 0)
	fmt.Println(t.D.Data, err)
	// Output:
	// [0.75] <nil>
}

func ExampleMatrices_Matrices() {
	a, b := trial.Matrices{A: row, B: column}.Matrices(1, 1, 3, 0)
	fmt.Println(a.Cols, b.Rows)
	// Output:
	// 3 3
}

// A kernel that loses the last product is off by what it is.
func ExampleProduct_RunPlan() {
	p, err := trial.On(devices.HopperF16(), row, column)
	for _, floor := range []bool{false, true} {
		cut := plan.Cut{Count: 2, Floor: floor}
		t := p.RunPlan(plan.Plan{Order: plan.Parts{Cut: cut, Each: plan.Run{Device: devices.HopperF16()}}})
		fmt.Println(t.D.Data, t.Errors, err)
	}
	// Output:
	// [0.75] [0] <nil>
	// [12] [11.25] <nil>
}
