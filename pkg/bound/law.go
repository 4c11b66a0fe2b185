package bound

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// lawSeed is the seed of all samples of products.
const lawSeed = 241118747

// lossesOf returns what the products of elements of a and b lose, wherever the elements stand:
// of all pairs of their values if the formats have at most 8 bits, else of pairs drawn at random,
// 32 for each term of a sum.
func (k Kernel) lossesOf(a, b blas32.General) *roundoff.Losses {
	const perTerm, fewest, most = 32, 1 << 14, 1 << 20
	F := k.Core.(tcore.Fused).FractionBits
	if k.narrow() {
		x, px := k.values(k.A, a.Rows*a.Cols, func(i int) float64 { return float64(a.Data[i/a.Cols*a.Stride+i%a.Cols]) })
		y, py := k.values(k.B, b.Rows*b.Cols, func(i int) float64 { return float64(b.Data[i/b.Cols*b.Stride+i%b.Cols]) })
		return k.valueLaw(x, px, y, py, min(a.Rows*a.Cols, b.Rows*b.Cols)).Losses(F)
	}
	rng := rand.New(rand.NewPCG(lawSeed, 1))
	draw := func(m blas32.General) func() float64 {
		return func() float64 { return float64(m.Data[rng.IntN(m.Rows)*m.Stride+rng.IntN(m.Cols)]) }
	}
	return k.pairLaw(min(max(perTerm*k.K, fewest), most), draw(a), draw(b)).Losses(F)
}

// narrow reports whether all pairs of numbers of the formats can be listed.
func (k Kernel) narrow() bool { return k.A.Bits() <= 8 && k.B.Bits() <= 8 }

// pairLaw returns the law of products of n pairs.
func (k Kernel) pairLaw(n int, a, b func() float64) *roundoff.Products {
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = k.A.Round(a(), k.Convert), k.B.Round(b(), k.Convert)
	}
	return roundoff.PairProducts(x, y, k.A.Emin, k.B.Emin)
}

// valueLaw returns the law of products of numbers that were each counted in samples of n.
func (k Kernel) valueLaw(x, px, y, py []float64, n int) *roundoff.Products {
	p := roundoff.ValueProducts(x, px, y, py, k.A.Emin, k.B.Emin)
	p.Samples = float64(n)
	return p
}

// values returns the numbers of f that n elements become, ascending, and how often.
func (k Kernel) values(f tcore.Format, n int, element func(i int) float64) (values, counts []float64) {
	count := map[float64]float64{}
	for i := range n {
		count[f.Round(element(i), k.Convert)]++
	}
	for _, v := range slices.Sorted(maps.Keys(count)) {
		values, counts = append(values, v), append(counts, count[v])
	}
	return values, counts
}
