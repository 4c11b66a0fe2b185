package quant_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// Blocks lie along the rows of A and the columns of B: the second row and the
// second column have a scale of their own.
func ExampleRecipe_Factors() {
	a := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{6000, 3000, 6, 3}}
	b := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{6000, 6, 3000, 3}}
	x, y, err := quant.DeepGEMMFP4(quant.PerVector, false).Factors(a, b)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Data, y.Data)
	// Output:
	// [6000 3000 6 3] [6000 6 3000 3]
}

// An error is that of the factor that cannot be quantised.
func TestFactors(t *testing.T) {
	some, empty := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{1}}, blas32.General{}
	r := quant.MX(tcore.E4M3, quant.FloorScale)
	for _, m := range [][2]blas32.General{{empty, some}, {some, empty}} {
		if _, _, err := r.Factors(m[0], m[1]); err == nil || !strings.Contains(err.Error(), "quant: ") {
			t.Errorf("error %v", err)
		}
	}
}
