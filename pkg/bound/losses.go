package bound

import (
	"cmp"
	"math/rand/v2"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// dataSeed is the seed for all samples of products.
const dataSeed = 241118747

// lossesOf returns the distribution of what products of elements of a and b
// lose by truncation, whatever the positions of the elements. If both formats
// have at most 8 bits, it uses all pairs of values. Otherwise it uses pairs
// drawn at random, 64 for each term of a sum, but at least 2^14 and at most
// 2^20. The estimate counts as one from as many samples as elements of the
// smaller matrix are used, each with different partners in the other matrix.
func (k Problem) lossesOf(a, b blas32.General) *truncation.Losses {
	x, y := elements{a, k.Device.A}, elements{b, k.Device.B}
	if x.count() > y.count() {
		x, y = y, x
	}
	var p *truncation.ProductDistribution
	if k.narrow() {
		u, v := k.count(x.Format, x.numbers()), k.count(y.Format, y.numbers())
		p = truncation.ValueProducts(u.values, u.probabilities, v.values, v.probabilities, x.Emin, y.Emin)
		p.Samples, p.Partners = float64(x.count()), float64(y.count()/x.count())
	} else {
		p = k.stars(x, y)
	}
	if x.oneSign() && y.oneSign() {
		p = p.OneSign()
	}
	return p.Losses(k.Device.Core.(tcore.Fused).FractionBits)
}

// stars returns the distribution of products of random pairs of elements of x
// and y, where y has at least as many elements as x. Each element of x, or of a
// part of them if fewer pairs are needed, is paired with several elements of y,
// and no element of y is used twice. This is repeated until there are enough
// pairs.
func (k Problem) stars(x, y elements) *truncation.ProductDistribution {
	const perTerm, fewest, most = 64, 1 << 14, 1 << 20
	n := min(max(perTerm*k.K, fewest), most)
	centres := min(n, x.count())
	rays := max(1, min(n, y.count())/centres)
	rounds := max(1, n/(centres*rays))
	rng := rand.New(rand.NewPCG(dataSeed, 1))
	u, v := make([]float64, 0, n), make([]float64, 0, n)
	for range rounds {
		i, j := x.walk(rng), y.walk(rng)
		for range centres {
			s := x.at(i())
			for range rays {
				u, v = append(u, s), append(v, y.at(j()))
			}
		}
	}
	x.RoundSlice(u, u, k.Device.Convert)
	y.RoundSlice(v, v, k.Device.Convert)
	p := truncation.StarProducts(u, v, rays, x.Emin, y.Emin)
	p.Samples = float64(centres)
	return p
}

// elements are the elements of a matrix, with the format that they are
// converted to.
type elements struct {
	blas32.General
	tcore.Format
}

func (m elements) count() int { return m.Rows * m.Cols }

func (m elements) at(i int) float64 { return float64(m.Data[i/m.Cols*m.Stride+i%m.Cols]) }

// numbers returns all elements.
func (m elements) numbers() []float64 {
	x := make([]float64, m.count())
	for i := range x {
		x[i] = m.at(i)
	}
	return x
}

// oneSign reports whether no element is negative, or none positive.
func (m elements) oneSign() bool {
	var positive, negative bool
	for i := range m.Rows {
		for _, v := range m.Data[i*m.Stride : i*m.Stride+m.Cols] {
			positive, negative = positive || v > 0, negative || v < 0
		}
	}
	return !(positive && negative)
}

// walk returns a function whose calls return the indices of all elements, each
// once, with a random start and a random stride.
func (m elements) walk(rng *rand.Rand) func() int {
	n := m.count()
	i, stride := rng.IntN(n), 1+rng.IntN(n)
	for gcd(stride, n) > 1 {
		stride = 1 + rng.IntN(n)
	}
	return func() int {
		i = (i + stride) % n
		return i
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// lossesBefore returns the distribution of what the products of a problem lose
// by truncation, if only the distributions of the data are known. If these are
// known in full and the formats have at most 8 bits, it uses all pairs of
// numbers, otherwise numbers drawn at random. It caches the tables between
// calls.
func (k Problem) lossesBefore() *truncation.Losses {
	F := k.Device.Core.(tcore.Fused).FractionBits
	x, y := k.X.of(), k.Y.of()
	if !x.inFull() || !y.inFull() {
		return k.drawn("losses", F, func() any { return k.productDistribution().Losses(F) }).(*truncation.Losses)
	}
	key := distributionKey{x.source, y.source, k.Device.A, k.Device.B, k.Device.Convert, F}
	distributionTables.Lock()
	defer distributionTables.Unlock()
	l, ok := distributionTables.known[key]
	if !ok {
		l = k.productDistribution().Losses(F)
		distributionTables.keep(key, l)
	}
	return l
}

// A distributionKey contains everything that the result of lossesBefore depends
// on.
type distributionKey struct {
	x, y    source
	a, b    tcore.Format
	convert tcore.RoundingMode
	F       int
}

// A valueKey contains everything that the result of distributionOf depends on.
type valueKey struct {
	source
	format  tcore.Format
	convert tcore.RoundingMode
}

// A table caches computed values, under everything that they depend on: as many
// as most, or 256 if that is 0.
type table[K comparable, V any] struct {
	sync.Mutex
	known map[K]V
	most  int
}

// keep adds an entry. The caller holds the lock.
func (t *table[K, V]) keep(key K, v V) {
	if t.known == nil || len(t.known) >= cmp.Or(t.most, 256) {
		t.known = map[K]V{}
	}
	t.known[key] = v
}

// once returns the value of a table, which make computes where there is none.
// Whoever asks for it meanwhile waits, but not those who ask for another.
func once[K comparable, V any](t *table[K, func() V], key K, make func() V) V {
	t.Lock()
	v, ok := t.known[key]
	if !ok {
		v = sync.OnceValue(make)
		t.keep(key, v)
	}
	t.Unlock()
	return v()
}

var (
	distributionTables table[distributionKey, *truncation.Losses]
	valueTables        table[valueKey, *valueDistribution]
)

// productDistribution returns the distribution of products of numbers of the
// distributions of A and B.
func (k Problem) productDistribution() *truncation.ProductDistribution {
	const n = 1 << 17
	rng := rand.New(rand.NewPCG(dataSeed, 2))
	var p *truncation.ProductDistribution
	x, y := k.distributionOf(k.Device.A, k.X), k.distributionOf(k.Device.B, k.Y)
	switch {
	case x != nil && y != nil:
		p = truncation.ValueProducts(x.values, x.probabilities, y.values, y.probabilities, k.Device.A.Emin, k.Device.B.Emin)
	case k.narrow():
		x, y := k.draws(k.Device.A, k.X, n, rng), k.draws(k.Device.B, k.Y, n, rng)
		p = k.valueDistribution(x.values, x.probabilities, y.values, y.probabilities, n)
	default:
		p = k.pairDistribution(n, rng)
	}
	if k.X.Symmetric() || k.Y.Symmetric() {
		p = p.Symmetric()
	}
	return p
}

// narrow reports whether both formats have at most 8 bits, so that all pairs of
// their numbers can be listed.
func (k Problem) narrow() bool { return k.Device.A.Bits() <= 8 && k.Device.B.Bits() <= 8 }

// pairDistribution returns the distribution of products of n pairs drawn from
// the distributions of A and B.
func (k Problem) pairDistribution(n int, rng *rand.Rand) *truncation.ProductDistribution {
	x, y, a, b := make([]float64, n), make([]float64, n), k.X.from(rng), k.Y.from(rng)
	for i := range x {
		x[i], y[i] = a.Rand(), b.Rand()
	}
	k.convertFinite(x, k.Device.A)
	k.convertFinite(y, k.Device.B)
	return truncation.PairProducts(x, y, k.Device.A.Emin, k.Device.B.Emin)
}

// valueDistribution returns the distribution of products of x and y, whose
// probabilities px and py are each estimated from n samples.
func (k Problem) valueDistribution(x, px, y, py []float64, n int) *truncation.ProductDistribution {
	p := truncation.ValueProducts(x, px, y, py, k.Device.A.Emin, k.Device.B.Emin)
	p.Samples = float64(n)
	return p
}
