package bound

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

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

// lossesBefore returns what the products of a kernel lose whose data are known by distribution
// alone, from numbers drawn from there. Tables are kept from call to call.
func (k Kernel) lossesBefore() *roundoff.Losses {
	F := k.Core.(tcore.Fused).FractionBits
	key := lawKey{k.X.moments(), k.Y.moments(), k.A.Name, k.B.Name, F}
	lawTables.Lock()
	defer lawTables.Unlock()
	if l, ok := lawTables.known[key]; ok {
		return l
	}
	if len(lawTables.known) >= 64 {
		clear(lawTables.known)
	}
	l := k.productLaw().Losses(F)
	lawTables.known[key] = l
	return l
}

// A lawKey tells apart what lossesBefore returns.
type lawKey struct {
	x, y moments
	a, b string
	F    int
}

// moments is a distribution without what draws from it.
type moments struct {
	name                   string
	mean, square, abs, max float64
}

func (d Distribution) moments() moments { return moments{d.Name, d.Mean, d.Square, d.Abs, d.Max} }

var lawTables = struct {
	sync.Mutex
	known map[lawKey]*roundoff.Losses
}{known: map[lawKey]*roundoff.Losses{}}

// productLaw returns the law of products of numbers drawn from the distributions of A and B.
func (k Kernel) productLaw() *roundoff.Products {
	const n = 1 << 17
	rng := rand.New(rand.NewPCG(lawSeed, 2))
	a, b := func() float64 { return k.X.Draw(rng) }, func() float64 { return k.Y.Draw(rng) }
	var p *roundoff.Products
	if k.narrow() {
		x, px := k.values(k.A, n, func(int) float64 { return a() })
		y, py := k.values(k.B, n, func(int) float64 { return b() })
		p = k.valueLaw(x, px, y, py, n)
	} else {
		p = k.pairLaw(n, a, b)
	}
	if k.X.Symmetric || k.Y.Symmetric {
		p = p.Symmetric()
	}
	return p
}

// logMoment returns a bound on log E e^(±x(p-μ)) for products p of A and B: exact for normal
// numbers, else from the law, a sample, and a little more.
func (k Kernel) logMoment(law *roundoff.Losses) func(x float64) float64 {
	if !k.X.normal && !k.Y.normal {
		return law.LogMoment
	}
	x, y := k.X, k.Y
	if !x.normal {
		x, y = y, x
	}
	s, t := x.variance(), y.variance()
	if !y.normal { // its size is at most Max: p given y is normal
		t = 0
		return func(z float64) float64 {
			return 1.01 * z * z / 2 * (s*y.Max*y.Max + x.Mean*x.Mean*y.Max*y.Max)
		}
	}
	return func(z float64) float64 {
		v := 1 - z*z*s*t
		if v <= 0 {
			return math.Inf(1)
		}
		μ := math.Abs(x.Mean * y.Mean)
		return 1.01 * (-math.Log(v)/2 + (z*z*(x.Mean*x.Mean*t+y.Mean*y.Mean*s)/2+z*μ*z*z*s*t)/v)
	}
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
