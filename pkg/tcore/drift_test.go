package tcore

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Truncation has a bias: sums of K = 32768 products of U(0,1) data are smaller
// than the exact ones, in the mean by 6.6e-4 on Volta and by 2.0e-4 on Hopper,
// where rounding to nearest has a mean relative error of less than 1e-5.
// Splitting K reduces the bias.
func TestDevice_truncation_drifts(t *testing.T) {
	const m, k, n = 8, 1 << 15, 8
	a, b, d := uniform(m, k, 21), uniform(k, n, 22), zeros(m, n)
	for i := range a.Data {
		a.Data[i] = float32(math.Abs(float64(a.Data[i])))
		b.Data[i] = float32(math.Abs(float64(b.Data[i])))
	}
	for _, tt := range []struct {
		machine   Machine
		low, high float64 // of the mean relative error
	}{
		{Machine{Device: VoltaF16}, -7e-4, -6e-4},
		{Machine{Device: HopperF16}, -2.2e-4, -1.8e-4},
		{Machine{Device: HopperF16, SplitK: 16}, -1.3e-5, -0.8e-5},
		{Machine{Device: IEEEF16}, -1e-5, 1e-5},
	} {
		tt.machine.GEMM('N', 'N', 1, a, b, 0, blas32.General{}, d)
		exact, err := tt.machine.Device.ExactGEMM(a, b)
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for i, e := range exact.Error(d).Data {
			mean += e / exact.Float64().Data[i] / (m * n)
		}
		if mean < tt.low || mean > tt.high {
			t.Errorf("%s, SplitK %d: mean relative error %.3g, want it in [%v, %v]", tt.machine.Device.Name, tt.machine.SplitK, mean, tt.low, tt.high)
		}
	}
}
