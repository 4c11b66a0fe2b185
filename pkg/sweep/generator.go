package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A Generator describes the matrices of a product: how they are drawn, and
// which distributions the bounds are given.
type Generator struct {
	Name string

	// X and Y are the distributions of the elements of A and B that the bounds are
	// given; the zero value if they are given none.
	X, Y bound.Distribution

	// Misled reports that X and Y are not the distributions of the elements drawn.
	// Bounds that read X and Y are then not claimed.
	Misled bool

	// Mixed reports that the products of different outputs have different
	// distributions. Bounds that assume one distribution of all products are then
	// not claimed.
	Mixed bool

	// Dependent says why the elements of a matrix are not independent; it is empty
	// if they are. If it is not empty, probabilistic bounds that assume independent
	// products are not claimed, nor are any probabilistic bounds that are given X
	// and Y.
	Dependent string

	// Adverse says why rounding errors on these data are not random; it is empty if
	// they may be. If it is not empty, bounds that assume random rounding errors
	// are not claimed.
	Adverse string

	// Draw returns A of size m × k and B of size k × n. The same seed gives the
	// same matrices, whatever the number of cores.
	Draw func(m, n, k int, seed uint64) (a, b blas32.General)

	// The codes of the scales of blocks of A and B, on machines with block scales;
	// nil means that all scales are 1.
	scaleX, scaleY func(r *rand.Rand, f tcore.Format) uint64
}

// Matrices returns what Draw returns. It makes a Generator the Data of package
// trial.
func (l Generator) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	return l.Draw(m, n, k, seed)
}

// The distributions of independent elements. The bounds are given X and Y.
var (
	Symmetric = Independent(bound.Uniform(-1, 1))
	Positive  = Independent(bound.Uniform(0, 1))
	OneTwo    = Independent(bound.Uniform(1, 2))
	Normal    = Independent(bound.Normal(0, 1))

	// LogNormal draws eᶻ, z standard normal.
	LogNormal = Independent(bound.FromMoments("log-normal",
		bound.DataMoments{Mean: math.Exp(0.5), MeanSquare: math.Exp(2), MeanAbs: math.Exp(0.5), MaxAbs: math.Inf(1)},
		func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }))

	// FewBits draws i/8, i uniform among the integers from -8 to 8: most sums are
	// exact.
	FewBits = Independent(bound.FromMoments("k/8",
		bound.DataMoments{MeanSquare: 2 * 204 / (17 * 64.), MeanAbs: 2 * 36 / (17 * 8.), MaxAbs: 1, Symmetric: true},
		func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 }))
)

// The distributions that violate an assumption of some bounds.
var (
	// Scaled multiplies U(-1,1) by a random power of two from 2⁻³ to 2³, one for
	// each row of A and each column of B: the elements of a vector are not
	// independent.
	Scaled = Generator{Name: "scaled", Mixed: true, Draw: byVectors(func(r *rand.Rand, x []float32) {
		scale := math.Ldexp(1, r.IntN(7)-3)
		for k := range x {
			x[k] = float32(scale * (2*r.Float64() - 1))
		}
	})}

	// Misinformed draws U(0,1), and X and Y are U(-1,1).
	Misinformed = Generator{Name: "U(0,1) as U(-1,1)", X: bound.Uniform(-1, 1), Y: bound.Uniform(-1, 1), Misled: true,
		Draw: Positive.Draw}

	// Constant has all elements equal to 1 + 2⁻¹⁰.
	Constant = Generator{Name: "constant", Adverse: "all products are one number", Draw: constant(1+0x1p-10, 1+0x1p-10)}

	// LowBits has equal products, (1 + 2⁻¹⁰)(2 - 2⁻¹⁰), whose low bits are all
	// ones.
	LowBits = Generator{Name: "low bits", Adverse: "all products are one number", Draw: constant(1+0x1p-10, 2-0x1p-10)}

	// Ties has a first product of 2¹², and all others are 2⁻¹²: in binary32 each
	// sum lies halfway between two numbers, and is rounded down to the even one.
	Ties = Generator{Name: "ties", Adverse: "every rounding goes the same way", Draw: byVectors(func(_ *rand.Rand, x []float32) {
		for k := range x {
			x[k] = 0x1p-6
		}
		x[0] = 0x1p6
	})}

	// Pairing draws low bits x of a significand at random, and sets y ≡ -1/x modulo
	// 2¹⁰: each factor looks random, and the low ten bits of every product are
	// ones.
	Pairing = Generator{Name: "pairing", Adverse: "factors are paired to lose the most", Draw: pairing}

	// Cancelling makes sums whose condition number |A||B|/|AB| is about 10⁴: the
	// second half of each sum cancels most of the first half.
	Cancelling = Generator{Name: "condition 1e4", Adverse: "the second half of a sum takes back the first", Draw: cancelling(1e4)}
)

// Generators returns the distributions that are variables of this package,
// those of independent elements first.
func Generators() []Generator {
	return []Generator{
		Symmetric, Positive, OneTwo, Normal, LogNormal, FewBits,
		Scaled, Misinformed, Constant, LowBits, Ties, Pairing, Cancelling,
	}
}

// FindGenerator returns the distribution with that name: one of [Generators],
// or one that the name describes. Such a name is a distribution of the elements
// of both matrices, or one of A and one of B with × or * between. The
// distributions are
//
//	U(lo,hi) N(mean,deviation) log-normal log-uniform(lo,hi) laplace(scale) t(degrees) point(x)
//	grid(lo,hi,step) k/8 ar(φ) softmax(deviation)
//
// where log-uniform is 2^U(lo,hi), and ar is an autoregressive process whose
// neighbours have correlation φ. The following change other distributions L:
//
//	sparse(zeros,L) relu(L) signed(L) times(x,L) mix(share,L,L) sorted(L)
//	outliers(share,factor,L) rows(lo,hi,L) blocks(lo,hi,L)
//
// outliers multiplies the given share of the vectors by the factor, and rows
// each vector by an integer power of two from 2^lo to 2^hi. blocks gives every
// block of a block-scaled device a scale 2^U(lo,hi), rounded to the format of
// the scales.
//
// The bounds are given no distribution if the vectors have different
// distributions. If only the elements of a vector depend on each other, as in
// sorted and ar, the bounds are given the distribution of a single element. An
// error says that there is no such distribution.
func FindGenerator(name string) (Generator, error) {
	if i := slices.IndexFunc(Generators(), func(l Generator) bool { return l.Name == name }); i >= 0 {
		return Generators()[i], nil
	}
	if l, ok := parseGenerator(name); ok {
		return l, nil
	}
	var names []string
	for _, l := range Generators() {
		names = append(names, l.Name)
	}
	return Generator{}, fmt.Errorf("sweep: no data %q, want one of %s, another U(lo,hi) or N(mean,deviation), or what is made of such", name, strings.Join(names, ", "))
}

// Independent returns the distribution of matrices whose elements are
// independent and drawn from d. Its name is that of d.
func Independent(d bound.Distribution) Generator {
	return drawn(d).times(drawn(d), d.String())
}

// byVectors returns a Draw that fills the rows of A and the columns of B one by
// one, each with its own random number generator. The first elements of a
// vector do not depend on K.
func byVectors(fill func(r *rand.Rand, x []float32)) func(m, n, k int, seed uint64) (a, b blas32.General) {
	f := factor{fill: fill}
	return f.times(f, "").Draw
}

// constant returns a Draw of A with all elements x and B with all elements y.
func constant(x, y float32) func(m, n, k int, seed uint64) (a, b blas32.General) {
	return func(m, n, k int, _ uint64) (a, b blas32.General) {
		a, b = matrix.New(m, k), matrix.New(k, n)
		for i := range a.Data {
			a.Data[i] = x
		}
		for i := range b.Data {
			b.Data[i] = y
		}
		return a, b
	}
}

// pairing is the Draw of Pairing. Within a column of A, and within a row of B,
// elements differ only by powers of two.
func pairing(m, n, k int, seed uint64) (a, b blas32.General) {
	a, b = matrix.New(m, k), matrix.New(k, n)
	r := rand.New(rand.NewPCG(seed, 3))
	for l := range k {
		x := 2*r.IntN(512) + 1
		y := 1024 - inverse(x)
		for i := range m {
			a.Data[i*k+l] = float32(math.Ldexp(float64(1024+x), -10-r.IntN(3)))
		}
		for j := range n {
			b.Data[l*n+j] = float32(math.Ldexp(float64(1024+y), -10-r.IntN(3)))
		}
	}
	return a, b
}

// inverse returns the z with xz ≡ 1 modulo 1024, for odd x.
func inverse(x int) int {
	z := x // the inverse modulo 8; each Newton step doubles the number of correct bits
	for range 4 {
		z = z * (2 - x*z) & 1023
	}
	return z
}

// cancelling returns a Draw of A = [A₁ A₁] and B = [B₁; εE - B₁], where A₁, B₁
// and E are from U(-1,1), and ε is such that Σ|xy| is about condition times
// |Σxy|.
func cancelling(condition float64) func(m, n, k int, seed uint64) (a, b blas32.General) {
	return func(m, n, k int, seed uint64) (a, b blas32.General) {
		half := k / 2
		a, b = Symmetric.Matrices(m, n, k, seed)
		for i := range m {
			row := a.Data[i*k : (i+1)*k]
			copy(row[half:], row[:half])
		}
		// E Σ|xy| = k/4, and E |Σ a e| over half products is √half × 1/3 × √(2/π).
		ε := float32(float64(k) / 4 / (condition * math.Sqrt(float64(half)) / 3 * math.Sqrt(2/math.Pi)))
		for l := half; l < 2*half; l++ {
			for j := range n {
				e := b.Data[l*n+j]
				b.Data[l*n+j] = float32(ε*e) - b.Data[(l-half)*n+j]
			}
		}
		return a, b
	}
}
