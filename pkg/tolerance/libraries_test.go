package tolerance

import (
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// What libraries return on Hopper is within the tolerance of its tensor core,
// whose user does not know which of their orders ran, with residues first, in
// blocks, or without the tensor core, by FMAs of lanes and slices.
func TestOrdersOfLibrariesAreWithin(t *testing.T) {
	texts := []string{
		"hopper-wgmma-binary16-binary32",
		"hopper-wgmma-binary16-binary32 | every 512",
		"hopper-mma-binary16-binary32 group 8 tile 32",
		"hopper-mma-binary16-binary32 group 8 tile 32 | every 512",
		"ieee-fma-binary16-binary32 | every 256 + zero | parts 2 + zero",
		"ieee-fma-binary16-binary32 | lanes 32 vector 4 + butterfly",
		"ieee-fma-binary16-binary32 | every 16 | lanes 32",
		"ieee-fma-binary16-binary32 | lanes 2 vector 1 + zero | lanes 128 vector 2 + butterfly | lanes 8 vector 256 + folds 128,64,32,4,1",
	}
	laws := map[string]func(*rand.Rand) float64{"N(0,1)": (*rand.Rand).NormFloat64, "U(0,1)": (*rand.Rand).Float64}
	d := devices.HopperF16()
	for _, shape := range [][3]int{{1, 2048, 64}, {16, 1003, 16}} {
		for name, law := range laws {
			rng := rand.New(rand.NewPCG(9, uint64(shape[1])))
			draw := func() float64 { return law(rng) }
			a, b := numbers(shape[0], shape[1], d.A, draw), numbers(shape[1], shape[2], d.B, draw)
			data, err := Measure(a, b)
			if err != nil {
				t.Fatal(err)
			}
			z, err := data.Of(Implementation{Machine: tcore.Machine{Device: d}}, roundoff.FailureOf(1-1e-6))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				p, err := plan.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				got := matrix.New(shape[0], shape[2])
				p.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, got)
				if r := z.Compare(matrix.Float64(got)); !r.Within() {
					t.Errorf("%v of %s by %q: %v", shape, name, text, r)
				}
				got.Data[0] += 1e-4 * float32(data.Sizes.Data[0])
				if z.Compare(matrix.Float64(got)).Within() {
					t.Errorf("%v of %s by %q: an output may be wrong by 1e-4 of |A||B|", shape, name, text)
				}
			}
		}
	}
}
