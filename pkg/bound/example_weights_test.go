package bound_test

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas/blas64"
)

// Of a layer the weights are known, and of its input that it is about normal.
// Then errors of rounding both to e4m3 average out.
func ExampleWeights() {
	const K, N = 1024, 8
	b := blas64.General{Rows: K, Cols: N, Stride: N, Data: make([]float64, K*N)}
	for i := range b.Data {
		b.Data[i] = math.Sin(float64(i * i))
	}
	k := bound.Problem{M: 64, K: K, N: N, Machine: tcore.Machine{Device: devices.BlackwellE4M3()}, Represented: true, X: bound.Normal(0, 1)}
	for _, weights := range []*bound.Weights{nil, {B: b}} {
		k.Weights = weights
		results, err := bound.Evaluate(k, at99)
		if err != nil {
			fmt.Println(err)
			return
		}
		best, _ := bound.Tightest(results)
		fmt.Printf("%.4f: %s\n", best.Constant, best.Why)
	}
	// Output:
	// 0.1289: always
	// 0.0096: for independent elements of A of this distribution
}
