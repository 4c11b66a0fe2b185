package plan_test

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Lanes that have a part less than others add +0 in its place, which turns -0
// into +0.
func TestMissingPartsArePositiveZero(t *testing.T) {
	u := scalarUnits()[2] // products that underflow to -0
	for parts, want := range map[int]float64{1: 0, 3: 0, 4: math.Copysign(0, -1), 5: 0, 6: 0, 7: 0, 8: math.Copysign(0, -1)} {
		lanes := split(1, plan.Run{Device: u.device}, plan.Merge{Folds: []int{4, 1}})
		x, y := make([]float64, parts), make([]float64, parts)
		for i := range x {
			x[i], y[i] = -0x1p-100, 0x1p-100
		}
		of := plan.Plan{Order: lanes, Output: tcore.Binary32}
		if got := of.Dot(x, y); !same(got, want) {
			t.Errorf("%d parts in 4 lanes: %v, want %v", parts, got, want)
		}
	}
}

// Products that an order loses are in no sum, whatever the shape.
func TestLostProducts(t *testing.T) {
	order := plan.Parts{Cut: plan.Cut{Count: 3, Floor: true}, Each: plan.Run{Device: scalarUnits()[0].device}}
	for _, shape := range [][2]int{{1, 1}, {1, 5}, {5, 1}, {8, 1}, {13, 1}, {3, 3}} {
		a, b, d := matrix.New(shape[0], 8), matrix.New(8, shape[1]), matrix.New(shape[0], shape[1])
		for _, x := range [][]float32{a.Data, b.Data} {
			for i := range x {
				x[i] = 1
			}
		}
		plan.Plan{Order: order}.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d)
		for _, v := range d.Data {
			if v != 6 {
				t.Fatalf("%d × %d: %v, want 6 of 8 products", shape[0], shape[1], v)
			}
		}
	}
}
