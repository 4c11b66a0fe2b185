package tcore_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

func ExampleFormat_Accuracy() {
	fmt.Println(tcore.Binary16.Accuracy(0.1, tcore.ToNearestEven), tcore.Binary16.Accuracy(0.1, tcore.ToPositive), tcore.Binary16.Accuracy(0.125, tcore.ToZero))
	fmt.Println(tcore.Binary16.Accuracy(1e6, tcore.ToNearestEven), tcore.E4M3.Accuracy(1e6, tcore.ToZero))
	// Output:
	// Below Above Exact
	// Above Below
}

// Accuracy agrees with math/big in the modes that both have, for a format whose
// exponent range is not exceeded.
func TestAccuracy(t *testing.T) {
	wide := tcore.Format{Name: "wide", Precision: 7, Emin: -900, Emax: 900}
	r := rand.New(rand.NewPCG(7, 7))
	for mode, theirs := range map[tcore.RoundingMode]big.RoundingMode{
		tcore.ToNearestEven: big.ToNearestEven, tcore.ToNearestAway: big.ToNearestAway, tcore.ToZero: big.ToZero,
		tcore.ToPositive: big.ToPositiveInf, tcore.ToNegative: big.ToNegativeInf,
	} {
		seen := map[big.Accuracy]int{}
		for range 3000 {
			x := math.Ldexp(float64(r.IntN(1<<10)-1<<9), r.IntN(40)-20)
			want := new(big.Float).SetPrec(7).SetMode(theirs).SetFloat64(x)
			got := wide.Accuracy(x, mode)
			if z, _ := want.Float64(); got != want.Acc() || wide.Round(x, mode) != z {
				t.Fatalf("%v of %v: %v, want %v", mode, x, got, want.Acc())
			}
			seen[got]++
		}
		if both := mode == tcore.ToPositive || mode == tcore.ToNegative; len(seen) != 3 && !both || len(seen) < 2 {
			t.Errorf("%v: %v, want all that there are", mode, seen)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)} {
		if got := tcore.Binary16.Accuracy(x, tcore.ToZero); got != big.Exact {
			t.Errorf("of %v: %v", x, got)
		}
	}
}
