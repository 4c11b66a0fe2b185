package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// A stepDistribution tells what one rounding to nearest of a running sum adds
// to it, by the unit in the last place of the sum. Rows are computed when they
// are first asked for.
type stepDistribution struct {
	increments *truncation.Increments
	nonzero    float64 // the share of increments that are not 0, of single products
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

// stepDistribution returns the distribution of what the problem's running sums
// are rounded by, nil where that is not known: the elements are not known by a
// distribution, or products meet no running sum.
func (k Problem) stepDistribution() *stepDistribution {
	if !k.knows(Moments) || !k.X.CanDraw() || !k.Y.CanDraw() || k.Order != tcore.InSequence || k.stochastic() || k.truncates() {
		return nil
	}
	const few = 256 // enough for a bound
	return k.stepDistributionOf(few)
}

// stepDistributionOf returns the distribution from so many x for each y.
func (k Problem) stepDistributionOf(nx int) *stepDistribution {
	terms := k.stepTerms()
	return k.drawn(fmt.Sprint("steps ", nx), terms, func() any {
		z := k.increments(min(terms, k.K), nx)
		return &stepDistribution{increments: z, nonzero: z.Nonzero()}
	}).(*stepDistribution)
}

// stepTerms returns how many products a rounding of the running sum adds.
func (k Problem) stepTerms() int {
	switch c := k.Device.Core.(type) {
	case tcore.ExactSum:
		return c.Terms
	case tcore.Pairwise:
		return c.Terms
	}
	return 1
}

// increments draws what the steps of a sum of so many products each add to it:
// single products of all pairs of two samples, many for the price of few.
func (k Problem) increments(terms, nx int) *truncation.Increments {
	const batches, ny = 16, 1024
	z := &truncation.Increments{}
	if k.X.Symmetric() || k.Y.Symmetric() { // of which only the spread is asked
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
		for i := range sums {
			x, y := k.numbers(terms, k.X, k.Device.A, rng), k.numbers(terms, k.Y, k.Device.B, rng)
			for l := range x {
				sums[i] += x[l] * y[l]
			}
		}
		z.Add(sums, []float64{1}, nil)
	}
	return z
}

// numbers returns n numbers of f that elements of d become, which are numbers
// of binary32 first, as those of matrices are.
func (k Problem) numbers(n int, d Distribution, f tcore.Format, rng *rand.Rand) []float64 {
	d = d.from(rng)
	x := make([]float64, n)
	for i := range x {
		v := d.Rand()
		if f.Precision > tcore.Binary32.Precision {
			v = tcore.Binary32.Round(v, tcore.ToNearestEven)
		}
		x[i] = k.element(v, f)
	}
	return x
}

// element returns the number of f that v becomes. What overflows counts as the
// greatest number: bounds are of products that do not overflow.
func (k Problem) element(v float64, f tcore.Format) float64 {
	z := f.Round(v, k.Device.Convert)
	if math.IsNaN(z) || math.IsInf(z, 0) {
		return math.Copysign(f.Max(), v)
	}
	return z
}

// A drift is what is known of the mean of rounding errors, that of all errors
// of one output.
type drift struct {
	mean     float64 // of the sum of the errors
	most     float64 // its size is at most that, as far as a sample tells
	variance float64 // of the errors, over that of errors uniform between neighbouring numbers
}

// sure is how many standard deviations an estimated mean may be off.
const sure = 3

// drift returns the drift of a chain whose running sums are where those of
// independent products are expected, and false where the distributions are not
// known, or all is rounded toward zero.
func (k Problem) drift() (drift, bool) {
	dist := k.stepDistribution()
	if dist == nil {
		return drift{}, false
	}
	const nodes = 8
	p, precision := k.productMoments(), precision(k.coarsest())
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

// biased returns the value of a bound of a model of random errors of mean zero,
// with what their mean can do added to it, or why there is none: more than half
// of it would be that, or the errors are spread by more than so many times what
// uniform ones are.
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

// refuses returns why a bound on the error, made for errors of mean zero and of
// so much variance over that of uniform ones, does not describe errors of this
// drift, or "".
func (d drift) refuses(bound, spread float64) string {
	switch {
	case d.most > bound/2:
		return fmt.Sprintf("rounding to nearest has a mean here: the errors of these data add up to %.2g by themselves, half of the bound or more", d.mean)
	case spread > 0 && d.variance > spread:
		return fmt.Sprintf("rounding errors of these data are spread %.2g times as much as uniform ones, want at most %.2g", d.variance, spread)
	}
	return ""
}
