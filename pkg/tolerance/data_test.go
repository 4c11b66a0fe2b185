package tolerance

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// The sizes of the sums of parts are upper bounds, though they are computed in
// binary64: of numbers of 24 bits whose sums need more than 53, and cancel.
func TestSumsOfPartsAreUpperBounds(t *testing.T) {
	const k, length = 40, 16
	rng := rand.New(rand.NewPCG(3, 3))
	a, b := matrix.New(9, k), matrix.New(k, 7)
	for _, x := range [][]float32{a.Data, b.Data} {
		for i := range x {
			x[i] = float32(math.Ldexp(rng.NormFloat64(), rng.IntN(20)))
		}
	}
	data, err := Measure(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range data.partSums(length) {
		want := new(big.Rat)
		for lo := 0; lo < k; lo += length {
			sum := new(big.Rat)
			for l := lo; l < min(k, lo+length); l++ {
				x, y := new(big.Rat).SetFloat64(float64(a.Data[i/7*k+l])), new(big.Rat).SetFloat64(float64(b.Data[l*7+i%7]))
				sum.Add(sum, x.Mul(x, y))
			}
			want.Add(want, sum.Abs(sum))
		}
		most, _ := want.Float64()
		if new(big.Rat).SetFloat64(got).Cmp(want) < 0 || got > most+data.Sizes.Data[i]*0x1p-40 {
			t.Errorf("output %d: %v, want just above %v", i, got, most)
		}
	}
}
