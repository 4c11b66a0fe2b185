package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// A stepDistribution describes the error of one rounding to nearest of a
// running sum, for each unit in the last place of the sum. The distribution for
// a unit is computed when it is first needed.
type stepDistribution struct {
	increments *truncation.Increments
	nonzero    float64 // the share of increments that are not 0, if they are single products
	mu         sync.Mutex
	rows       perExponent[*truncation.NearestError]
}

// at returns the distribution of the error of rounding to multiples of 2^e.
func (s *stepDistribution) at(e int) *truncation.NearestError {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rows.at(e)
	if *r == nil {
		z := s.increments.Nearest(math.Ldexp(1, e))
		*r = &z
	}
	return *r
}

// stepDistribution returns the distribution of the error of one rounding of the
// problem's running sums. It is nil if numbers of A or B cannot be drawn, if
// sums are not in sequence, if rounding is stochastic, or if the machine
// truncates.
func (k Problem) stepDistribution() *stepDistribution {
	if !k.knows(Moments) || !k.X.CanDraw() || !k.Y.CanDraw() || k.Order != tcore.InSequence || k.stochastic() || k.truncates() || k.roundsToOdd() {
		return nil
	}
	const few = 256 // enough for a bound
	return k.stepDistributionOf(few)
}

// stepDistributionOf returns the distribution estimated with nx elements of A
// in each batch.
func (k Problem) stepDistributionOf(nx int) *stepDistribution {
	terms := k.stepTerms()
	return k.drawn(fmt.Sprint("steps ", nx), terms, func() any {
		z := k.increments(min(terms, k.K), nx)
		return &stepDistribution{increments: z, nonzero: z.Nonzero()}
	}).(*stepDistribution)
}

// stepTerms returns the number of products that are added between two roundings
// of the running sum.
func (k Problem) stepTerms() int {
	switch c := k.Device.Core.(type) {
	case tcore.ExactSum:
		return c.Terms
	case tcore.Pairwise:
		return c.Terms
	case tcore.EvenOdd:
		return c.Terms
	case tcore.FusedPairs:
		return 2
	}
	return 1
}

// increments draws a sample of what a step adds to the running sum, the sum of
// the given number of products. For single products, it uses all pairs of two
// samples, so that few draws give many products.
func (k Problem) increments(terms, nx int) *truncation.Increments {
	const batches, ny = 16, 1024
	z := &truncation.Increments{}
	if k.X.Symmetric() || k.Y.Symmetric() { // only their spread matters
		nx = 8
		z.Symmetric()
	}
	rng := rand.New(rand.NewPCG(dataSeed, 3))
	for range batches {
		if terms == 1 {
			z.Add(k.numbers(nx, k.X, k.Device.A, rng), k.numbers(ny, k.Y, k.Device.B, rng), nil)
			continue
		}
		sums := make([]float64, nx*ny/terms)
		x, y := make([]float64, len(sums)*terms), make([]float64, len(sums)*terms)
		for lo := 0; lo < len(x); lo += terms {
			k.X.draw(x[lo:lo+terms], rng)
			k.Y.draw(y[lo:lo+terms], rng)
		}
		k.convertDrawn(x, k.Device.A)
		k.convertDrawn(y, k.Device.B)
		for i := range x {
			sums[i/terms] += float64(x[i] * y[i])
		}
		z.Add(sums, []float64{1}, nil)
	}
	return z
}

// numbers returns n elements drawn from d and converted to f as by
// [Problem.convertDrawn].
func (k Problem) numbers(n int, d Distribution, f tcore.Format, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	d.draw(x, rng)
	k.convertDrawn(x, f)
	return x
}

// convertDrawn converts x to f as [Problem.convertFinite] does. If f is more
// precise than binary32, they are first rounded to binary32, as the elements of
// matrices are.
func (k Problem) convertDrawn(x []float64, f tcore.Format) {
	if f.Precision > tcore.Binary32.Precision {
		tcore.Binary32.RoundSlice(x, x, tcore.ToNearestEven)
	}
	k.convertFinite(x, f)
}

// convertFinite converts x to f. Numbers beyond the largest number of f become
// this number with their sign, because bounds are for products that do not
// overflow.
func (k Problem) convertFinite(x []float64, f tcore.Format) {
	most := f.Max()
	for i, v := range x {
		x[i] = min(max(v, -most), most)
	}
	f.RoundSlice(x, x, k.Device.Convert)
}

// A drift describes the mean of the rounding errors of one output.
type drift struct {
	mean     float64 // expected sum of the errors
	most     float64 // upper bound of |mean|, to within the error of the sample
	variance float64 // variance of the errors, over that of errors uniform between neighbouring numbers
}

// sure is the number of standard errors by which an estimated mean may be off.
const sure = 3

// drift returns the drift of a chain whose running sums are distributed as
// those of independent products. It returns false if [Problem.stepDistribution]
// is nil.
func (k Problem) drift() (drift, bool) {
	dist := k.stepDistribution()
	if dist == nil {
		return drift{}, false
	}
	if c, ok := k.Device.Core.(tcore.EvenOdd); ok {
		return k.twoChains(c)
	}
	const nodes = 8
	p, precision := k.ProductMoments(), precision(k.coarsest())
	w := float64(k.stepTerms())
	q := int(math.Ceil(float64(k.Length()) / w))
	least := math.Ilogb(k.Device.C.MinSubnormal())
	var d drift
	var variance, uniform float64
	unsure := map[int]float64{}
	for j := 0; j < q; {
		n := min(max(1, j/16), q-j)
		m := min((float64(j)+(float64(n)+1)/2)*w, float64(k.Length()))
		for i := range nodes {
			z := math.Sqrt2 * math.Erfinv((2*float64(i)+1)/nodes-1)
			s := m*p.Mean + z*math.Sqrt(m*p.Variance)
			if s == 0 {
				continue
			}
			e := max(least, math.Ilogb(s)-precision+1)
			r, part := dist.at(e), float64(n)/nodes
			d.mean += part * r.Mean
			unsure[e] += part * r.Estimate
			variance += part * max(0, r.Square-r.Mean*r.Mean)
			uniform += part * math.Ldexp(1, 2*e) / 12
		}
		j += n
	}
	squares := 0.0
	for _, u := range unsure {
		squares += u * u
	}
	d.most = math.Abs(d.mean) + sure*math.Sqrt(squares)
	if uniform > 0 {
		d.variance = variance / uniform
	}
	return d, true
}

// twoChains returns the drift of a machine that adds the products of a block
// in two chains: that of the running sum, to which the block is added, and of
// the chains in each block. The addition of the two chains, of numbers of like
// size, is taken as one without a drift.
func (k Problem) twoChains(c tcore.EvenOdd) (drift, bool) {
	blocks := k
	blocks.Device.Core = tcore.ExactSum{Terms: c.Terms}
	chain := k
	chain.Device.Core, chain.K = tcore.Chain{}, (min(k.Length(), c.Terms)+1)/2
	chain.SplitK, chain.Promote = 0, 0
	d, known := blocks.drift()
	of, also := chain.drift()
	chains := 2 * float64(k.Blocks())
	d.mean += chains * of.mean
	d.most += chains * of.most
	d.variance = max(d.variance, of.variance)
	return d, known && also
}

// biased returns the value of a bound that assumes errors of mean zero,
// increased by the largest effect of their actual mean. It returns in why the
// reason if the bound is not valid: this effect is more than half of the bound,
// or the variance of the errors is more than spread times that of uniform
// errors.
func (k Problem) biased(v Value, spread float64) (with Value, why string) {
	size := float64(k.Length()) * k.X.MeanAbs() * k.Y.MeanAbs()
	bound := min(v.Constant*size, v.Absolute)
	if !(size > 0 && bound > 0) || math.IsInf(bound, 1) {
		return v, ""
	}
	d, known := k.drift()
	if !known {
		return v, ""
	}
	v.Constant *= 1 + d.most/bound
	v.Absolute *= 1 + d.most/bound
	return v, d.refuses(bound, spread)
}

// refuses returns why a bound on the error is not valid for errors with this
// drift, or "". The bound assumes errors of mean zero, with a variance of at
// most spread times that of uniform errors; 0 allows any variance.
func (d drift) refuses(bound, spread float64) string {
	switch {
	case d.most > bound/2:
		return fmt.Sprintf("rounding to nearest has a mean here: the errors of these data add up to %.2g by themselves, half of the bound or more", d.mean)
	case spread > 0 && d.variance > spread:
		return fmt.Sprintf("rounding errors of these data are spread %.2g times as much as uniform ones, want at most %.2g", d.variance, spread)
	}
	return ""
}
