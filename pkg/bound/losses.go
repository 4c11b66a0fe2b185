package bound

import (
	"math/rand/v2"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// dataSeed is the seed of all samples of products.
const dataSeed = 241118747

// lossesOf returns what the products of elements of a and b lose, wherever the
// elements stand: of all pairs of their values if the formats have at most 8
// bits, else of pairs drawn at random, 64 for each term of a sum. It counts as
// estimated from as many pairs as the smaller matrix has elements, each with
// partners of its own in the other.
func (k Problem) lossesOf(a, b blas32.General) *truncation.Losses {
	x, y := elements{a, k.Device.A}, elements{b, k.Device.B}
	if x.count() > y.count() {
		x, y = y, x
	}
	var p *truncation.ProductDistribution
	if k.narrow() {
		u, pu := k.values(x.Format, x.count(), x.at)
		v, pv := k.values(y.Format, y.count(), y.at)
		p = truncation.ValueProducts(u, pu, v, pv, x.Emin, y.Emin)
		p.Samples, p.Partners = float64(x.count()), float64(y.count()/x.count())
	} else {
		p = k.stars(x, y)
	}
	if x.oneSign() && y.oneSign() {
		p = p.OneSign()
	}
	return p.Losses(k.Device.Core.(tcore.Fused).FractionBits)
}

// stars returns the distribution of products of pairs of x and y, which has no
// fewer elements: every element of x, or as many of them as there are to be
// pairs, with several of y, no element of y twice; and that over again until
// there are enough.
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
			s := x.Round(x.at(i()), k.Device.Convert)
			for range rays {
				u, v = append(u, s), append(v, y.Round(y.at(j()), k.Device.Convert))
			}
		}
	}
	p := truncation.PairProducts(u, v, x.Emin, y.Emin)
	p.Samples, p.Partners = float64(centres), float64(rays)
	return p
}

// elements are those of a matrix that become numbers of a format.
type elements struct {
	blas32.General
	tcore.Format
}

func (m elements) count() int { return m.Rows * m.Cols }

func (m elements) at(i int) float64 { return float64(m.Data[i/m.Cols*m.Stride+i%m.Cols]) }

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

// walk returns a function whose calls return the numbers of all elements, in
// some order, each once.
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

// lossesBefore returns what the products of a problem lose whose data are known
// by distribution alone: of all pairs of numbers where these are known in full
// and the formats have at most 8 bits, else from numbers drawn. Tables are kept
// from call to call.
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

// A distributionKey is all that lossesBefore depends on.
type distributionKey struct {
	x, y    source
	a, b    tcore.Format
	convert tcore.RoundingMode
	F       int
}

// A valueKey is all that distributionOf depends on.
type valueKey struct {
	source
	format  tcore.Format
	convert tcore.RoundingMode
}

// A table keeps what has been computed by all that it depends on.
type table[K comparable, V any] struct {
	sync.Mutex
	known map[K]V
}

// keep adds an entry. The caller holds the lock.
func (t *table[K, V]) keep(key K, v V) {
	if t.known == nil || len(t.known) >= 256 {
		t.known = map[K]V{}
	}
	t.known[key] = v
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
		p = k.pairDistribution(n, k.X.from(rng).Rand, k.Y.from(rng).Rand)
	}
	if k.X.Symmetric() || k.Y.Symmetric() {
		p = p.Symmetric()
	}
	return p
}

// narrow reports whether all pairs of numbers of the formats can be listed.
func (k Problem) narrow() bool { return k.Device.A.Bits() <= 8 && k.Device.B.Bits() <= 8 }

// pairDistribution returns the distribution of products of n pairs.
func (k Problem) pairDistribution(n int, a, b func() float64) *truncation.ProductDistribution {
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = k.Device.A.Round(a(), k.Device.Convert), k.Device.B.Round(b(), k.Device.Convert)
	}
	return truncation.PairProducts(x, y, k.Device.A.Emin, k.Device.B.Emin)
}

// valueDistribution returns the distribution of products of numbers that were
// each counted in samples of n.
func (k Problem) valueDistribution(x, px, y, py []float64, n int) *truncation.ProductDistribution {
	p := truncation.ValueProducts(x, px, y, py, k.Device.A.Emin, k.Device.B.Emin)
	p.Samples = float64(n)
	return p
}

// values returns the numbers of f that n elements become, ascending, and how
// often.
func (k Problem) values(f tcore.Format, n int, element func(i int) float64) (values, probabilities []float64) {
	l := k.count(f, n, element)
	return l.values, l.probabilities
}
