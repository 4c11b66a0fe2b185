package bound

import (
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Every output of one sign loses at least LeastLoss, in the mean not four times
// as much in one part of K; of two signs nothing is certain, nor without a
// distribution.
func TestLeastLoss(t *testing.T) {
	const m, k, n = 32, 2000, 32
	f := roundoff.FailureOf(1 - 1e-6)
	for _, d := range []tcore.Device{devices.HopperE4M3(), devices.AdaE5M2(), devices.HopperF16()} {
		rng := rand.New(rand.NewPCG(5, 5))
		a, b := matrix.New(m, k), matrix.New(k, n)
		for _, z := range []blas32.General{a, b} {
			for i := range z.Data {
				z.Data[i] = float32(d.A.Round(rng.Float64(), tcore.ToNearestEven))
			}
		}
		x, err := MomentsOf("A", matrix.Float64(a))
		if err != nil {
			t.Fatal(err)
		}
		y, err := MomentsOf("B", matrix.Float64(b))
		if err != nil {
			t.Fatal(err)
		}
		exact := matrix.Product64(matrix.Float64(a), matrix.Float64(b))
		for _, s := range []int{1, 2, 3} {
			machine := tcore.Machine{Device: d, SplitK: s}
			least := Problem{M: m, N: n, K: k, Machine: machine, X: x, Y: y}.LeastLoss(f)
			sums, mean := matrix.New(m, n), 0.0
			machine.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, sums)
			for i, sum := range sums.Data {
				loss := exact.Data[i] - float64(sum)
				if merging := float64(s-1) * 0x1p-24 * exact.Data[i]; loss+merging < least {
					t.Errorf("%s, %d parts: output %d loses %v, want at least %v", d.Name, s, i, loss, least)
				}
				mean += loss / (m * n)
			}
			if fp8 := d.A.Bits() == 8; fp8 && s == 1 && mean > 4*least {
				t.Errorf("%s, %d parts: outputs lose %v in the mean, for sure %v", d.Name, s, mean, least)
			}
		}
		for name, p := range map[string]Problem{
			"of two signs": {M: m, N: n, K: k, Machine: tcore.Machine{Device: d}, X: Uniform(-1, 1).Named("A"), Y: Uniform(0, 1)},
			"not known":    {M: m, N: n, K: k, Machine: tcore.Machine{Device: d}},
			"to nearest":   {M: m, N: n, K: k, Machine: tcore.Machine{Device: devices.HopperF16F16()}, X: x, Y: y},
			"without sums": {M: m, N: n, K: k, Machine: tcore.Machine{Device: devices.IEEEF32()}, X: x, Y: y},
		} {
			if least := p.LeastLoss(f); least != 0 {
				t.Errorf("%s, %s: a least loss of %v, want 0", d.Name, name, least)
			}
		}
	}
}
