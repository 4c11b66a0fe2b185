package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// What Ratio returns, rounded to the format of the elements, is the number of
// the code, by every recipe; what Values returns, rounded to binary32, is what
// Dequantise returns, but for its second rounding.
func TestRatioRoundsToTheCode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := matrix.New(40, 64)
	for at := range x.Data {
		x.Data[at] = float32(math.Ldexp(r.NormFloat64(), r.IntN(8)))
	}
	for _, recipe := range Recipes() {
		for _, side := range []Side{Left, Right} {
			q, err := recipe.Quantise(x, side)
			if err != nil {
				t.Fatal(err)
			}
			values, rounded := q.Values(), q.Dequantise()
			for i := range x.Rows {
				for j, v := range matrix.Row(x, i) {
					number := []float64{float64(q.Ratio(v, i, j))}
					recipe.round(recipe.element(), number, 0)
					at := i*x.Cols + j
					if float32(number[0]) != q.Number(i, j) {
						t.Fatalf("%s: %v as %v: the ratio %v rounds to %v, the code is of %v", recipe.Name, side, v, q.Ratio(v, i, j), number[0], q.Number(i, j))
					}
					if d := math.Abs(values.Data[at] - float64(rounded.Data[at])); d > 0x1p-23*math.Abs(values.Data[at]) {
						t.Fatalf("%s: %v is %v exactly, %v in binary32", recipe.Name, v, values.Data[at], rounded.Data[at])
					}
				}
			}
		}
	}
}
