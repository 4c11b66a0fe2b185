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

// A Generator says how the matrices of a product are made, and what the bounds
// are told of them.
type Generator struct {
	Name string

	// X and Y are what the bounds are told of the elements of A and B; the zero
	// value is nothing.
	X, Y bound.Distribution

	// Misled says that X and Y are not what is drawn: a bound that reads them
	// cannot hold.
	Misled bool

	// Mixed says that products of different outputs have different distributions: a
	// bound that takes them as of one distribution cannot hold.
	Mixed bool

	// Dependent says why the elements of a matrix are not independent, or is empty:
	// a bound that takes products as independent cannot hold, nor a random one that
	// is told X and Y.
	Dependent string

	// Adverse says why rounding errors on these data are not random, or is empty: a
	// bound that takes them as random cannot hold.
	Adverse string

	// Draw returns A of size m × k and B of size k × n. The same seed gives the
	// same matrices, whatever the number of cores.
	Draw func(m, n, k int, seed uint64) (a, b blas32.General)

	// Codes of the scales of blocks of A and B, on machines that take them; nil are
	// ones.
	scaleX, scaleY func(r *rand.Rand, f tcore.Format) uint64
}

// Matrices returns what Draw does: a distribution is data of a trial.
func (l Generator) Matrices(m, n, k int, seed uint64) (a, b blas32.General) {
	return l.Draw(m, n, k, seed)
}

// The distributions whose elements are independent, and that the bounds are
// told.
var (
	Symmetric = Independent(bound.Uniform(-1, 1))
	Positive  = Independent(bound.Uniform(0, 1))
	OneTwo    = Independent(bound.Uniform(1, 2))
	Normal    = Independent(bound.Normal(0, 1))

	// LogNormal draws eᶻ, z normal.
	LogNormal = Independent(bound.FromMoments("log-normal",
		bound.DataMoments{Mean: math.Exp(0.5), MeanSquare: math.Exp(2), MeanAbs: math.Exp(0.5), MaxAbs: math.Inf(1)},
		func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }))

	// FewBits draws i/8 for i from -8 to 8: most sums are exact.
	FewBits = Independent(bound.FromMoments("k/8",
		bound.DataMoments{MeanSquare: 2 * 204 / (17 * 64.), MeanAbs: 2 * 36 / (17 * 8.), MaxAbs: 1, Symmetric: true},
		func(r *rand.Rand) float64 { return float64(r.IntN(17)-8) / 8 }))
)

// The distributions that break an assumption.
var (
	// Scaled multiplies U(-1,1) by a power of two from 2⁻³ to 2³, one for each row
	// of A and each column of B: the elements are no longer independent.
	Scaled = Generator{Name: "scaled", Mixed: true, Draw: byVectors(func(r *rand.Rand, x []float32) {
		scale := math.Ldexp(1, r.IntN(7)-3)
		for k := range x {
			x[k] = float32(scale * (2*r.Float64() - 1))
		}
	})}

	// Misinformed draws U(0,1) and tells the bounds U(-1,1).
	Misinformed = Generator{Name: "U(0,1) as U(-1,1)", X: bound.Uniform(-1, 1), Y: bound.Uniform(-1, 1), Misled: true,
		Draw: Positive.Draw}

	// Constant is 1 + 2⁻¹⁰ throughout.
	Constant = Generator{Name: "constant", Adverse: "all products are one number", Draw: constant(1+0x1p-10, 1+0x1p-10)}

	// LowBits has products whose low bits are all ones, (1 + 2⁻¹⁰)(2 - 2⁻¹⁰).
	LowBits = Generator{Name: "low bits", Adverse: "all products are one number", Draw: constant(1+0x1p-10, 2-0x1p-10)}

	// Ties begins with 2¹² and adds 2⁻¹² ever after: in binary32 each sum lies
	// halfway between two numbers, and is rounded down to an even one.
	Ties = Generator{Name: "ties", Adverse: "every rounding goes the same way", Draw: byVectors(func(_ *rand.Rand, x []float32) {
		for k := range x {
			x[k] = 0x1p-6
		}
		x[0] = 0x1p6
	})}

	// Pairing draws significands x at random, and y ≡ -1/x modulo 2¹⁰: each looks
	// random, and the low ten bits of every product are ones.
	Pairing = Generator{Name: "pairing", Adverse: "factors are paired to lose the most", Draw: pairing}

	// Cancelling makes sums whose condition number |A||B|/|AB| is about 10⁴: the
	// second half of each takes back the first.
	Cancelling = Generator{Name: "condition 1e4", Adverse: "the second half of a sum takes back the first", Draw: cancelling(1e4)}
)

// Generators returns the distributions that have names, those that the bounds
// are told first.
func Generators() []Generator {
	return []Generator{
		Symmetric, Positive, OneTwo, Normal, LogNormal, FewBits,
		Scaled, Misinformed, Constant, LowBits, Ties, Pairing, Cancelling,
	}
}

// FindGenerator returns the distribution of that name, one of [Generators], or
// that which the name describes: a distribution of the elements of both
// matrices, or one of A, ×, and one of B. Such distributions are
//
//	U(lo,hi) N(mean,deviation) log-normal log-uniform(lo,hi) laplace(scale) t(degrees) point(x)
//	grid(lo,hi,step) k/8 ar(φ) softmax(deviation)
//
// where log-uniform is 2^U(lo,hi), ar a process whose neighbours are correlated
// by φ, and, of others,
//
//	sparse(zeros,L) relu(L) signed(L) times(x,L) mix(share,L,L) sorted(L)
//	outliers(share,factor,L) rows(lo,hi,L) blocks(lo,hi,L)
//
// of which the last multiply vectors, and blocks that a device scales, by
// powers of two. Bounds are told nothing of distributions whose vectors differ,
// and the distribution of one element where only neighbours do.
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

// Independent returns the distribution of matrices of independent elements from
// d.
func Independent(d bound.Distribution) Generator {
	return drawn(d).times(drawn(d), d.String())
}

// byVectors returns the distribution of matrices whose rows, of A, and columns,
// of B, are filled one by one, each from a generator of its own: the first
// elements do not depend on K.
func byVectors(fill func(r *rand.Rand, x []float32)) func(m, n, k int, seed uint64) (a, b blas32.General) {
	f := factor{fill: fill}
	return f.times(f, "").Draw
}

// constant returns the distribution of A full of x and B full of y.
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

// pairing is the distribution of Pairing. Rows and columns differ by powers of
// two.
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

// inverse returns the z for which xz is 1 modulo 1024, x odd.
func inverse(x int) int {
	z := x // right modulo 8; each step doubles the bits that are
	for range 4 {
		z = z * (2 - x*z) & 1023
	}
	return z
}

// cancelling returns the distribution of A = [A₁ A₁] and B = [B₁; εE - B₁] from
// U(-1,1), ε such that Σ|xy| is about the given multiple of |Σxy|.
func cancelling(condition float64) func(m, n, k int, seed uint64) (a, b blas32.General) {
	return func(m, n, k int, seed uint64) (a, b blas32.General) {
		half := k / 2
		a, b = Symmetric.Matrices(m, n, k, seed)
		for i := range m {
			row := a.Data[i*k : (i+1)*k]
			copy(row[half:], row[:half])
		}
		// E Σ|xy| = k/4, and |Σ a e| of half products is √half × 1/3 × √(2/π) in the
		// mean.
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
