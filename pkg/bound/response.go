package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
	"gonum.org/v1/gonum/blas/blas32"
)

// response is the effect of one step of a machine as a function of the running
// sum before it: the moments of the error of the step, constant between edges.
// It stores their integrals from 0 to every edge.
type response struct {
	edges    []float64
	integral []truncation.ErrorMoments
	zero     truncation.ErrorMoments // of a step from 0
}

// response measures the moments of steps on the emulated machine. The error
// says that a sum overflowed.
func (k Problem) response() (*response, error) {
	return newResponse(k.edges(k.Width()), newStepper(k).step)
}

// newResponse asks for the moments of steps from 0 and between the edges.
func newResponse(edges []float64, step func(lo, hi float64) (truncation.ErrorMoments, error)) (*response, error) {
	r := &response{edges: edges, integral: make([]truncation.ErrorMoments, len(edges))}
	var err error
	if r.zero, err = step(0, 0); err != nil {
		return nil, err
	}
	zero := sort.SearchFloat64s(r.edges, 0)
	for i := zero + 1; i < len(r.edges); i++ {
		if err := r.ask(step, i-1, i); err != nil {
			return nil, err
		}
	}
	for i := zero - 1; i >= 0; i-- {
		if err := r.ask(step, i+1, i); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ask asks for the moments between two neighbouring edges and sets the integral
// at the second one.
func (r *response) ask(step func(lo, hi float64) (truncation.ErrorMoments, error), from, to int) error {
	m, err := step(r.edges[from], r.edges[to])
	r.integral[to] = add(r.integral[from], r.edges[to]-r.edges[from], m)
	return err
}

// add returns s + w m.
func add(s truncation.ErrorMoments, w float64, m truncation.ErrorMoments) truncation.ErrorMoments {
	return truncation.ErrorMoments{
		Mean:       s.Mean + w*m.Mean,
		Variance:   s.Variance + w*m.Variance,
		Covariance: s.Covariance + w*m.Covariance,
	}
}

// edges returns the edges in ascending order: running sums between which the
// moments of a step of so many products are taken as constant. They are close
// together near 0, and where a step can cross a power of two and so change the
// exponent of the sum. Let products have mean μ and standard deviation σ. In
// the direction of the drift the edges reach n|μ| + 8σ√n for n = K. Against it
// they reach the largest 8σ√n - n|μ| over all n, 16σ²/|μ|, if that is less.
func (k Problem) edges(products int) []float64 {
	const deviations = 8
	p := k.ProductMoments()
	block, n := float64(products), float64(k.K)
	reach := block*math.Abs(p.Mean) + 4*math.Sqrt(block*p.Variance)
	far := deviations*math.Sqrt(n*p.Variance) + n*math.Abs(p.Mean)
	against := far
	if p.Mean != 0 {
		against = min(far, deviations*deviations/4*p.Variance/math.Abs(p.Mean))
	}
	up, down := edgesUpTo(far, reach), edgesUpTo(against, reach)
	if p.Mean < 0 {
		up, down = down, up
	}
	z := make([]float64, 0, len(up)+len(down)+1)
	for _, x := range slices.Backward(down) {
		z = append(z, -x)
	}
	z = append(z, 0)
	return append(z, up...)
}

// edgesUpTo returns the positive edges in ascending order, the last of which is
// at least far.
func edgesUpTo(far, reach float64) []float64 {
	const near, width = 2, 1.0 / 8
	var x []float64
	for t := width; t <= near; t += width {
		x = append(x, t*reach)
	}
	for power := math.Ldexp(1, math.Ilogb(near*reach)+1); x[len(x)-1] < far; power *= 2 {
		for _, t := range []float64{-1, -0.25, 0, 0.25, 1} {
			if e := power + t*reach; e > x[len(x)-1] {
				x = append(x, e)
			}
		}
	}
	return x
}

// mean returns the moments of a step, averaged over running sums in [lo, hi].
func (r *response) mean(lo, hi float64) truncation.ErrorMoments {
	if lo == hi {
		if lo == 0 {
			return r.zero
		}
		lo, hi = lo-1e-9*math.Abs(lo), hi+1e-9*math.Abs(hi)
	}
	return add(truncation.ErrorMoments{}, 1/(hi-lo), add(r.to(hi), -1, r.to(lo)))
}

// to returns the integral of the moments from 0 to s.
func (r *response) to(s float64) truncation.ErrorMoments {
	i := min(max(sort.SearchFloat64s(r.edges, s), 1), len(r.edges)-1)
	t := (s - r.edges[i-1]) / (r.edges[i] - r.edges[i-1])
	return add(add(truncation.ErrorMoments{}, 1-t, r.integral[i-1]), t, r.integral[i])
}

// stepper emulates steps of a machine: it adds the products of a random n × L
// and a random L × n matrix to random running sums.
type stepper struct {
	k         Problem
	sums      tcore.Format      // of running sums
	dist      *stepDistribution // of errors of their rounding to nearest; nil where that is unknown
	nearest   bool              // running sums are rounded to nearest
	symmetric bool              // products have mean zero: each block is added with both signs
	rng       *rand.Rand
	factors   *randomFactors
	c, z      blas32.General
}

func newStepper(k Problem) *stepper {
	const n, seed = 128, 241118747
	rng := rand.New(rand.NewPCG(seed, 0))
	s := &stepper{
		k: k, sums: k.Device.C, nearest: !k.truncates() && !k.roundsToOdd(), symmetric: k.X.Mean() == 0 || k.Y.Mean() == 0,
		rng: rng, factors: k.newRandomFactors(n, k.Width(), rng), c: matrix.New(n, n), z: matrix.New(n, n),
	}
	const many = 2048 // enough to predict the mean, not only to bound it
	if k.stepDistribution() != nil {
		s.dist = k.stepDistributionOf(many)
	}
	if c, ok := k.Device.Core.(tcore.Fused); ok {
		s.sums, s.nearest = c.Result, c.Rounding == tcore.ToNearestEven
	}
	return s
}

// step returns the moments of the error of steps from running sums in [lo, hi].
// The error says that a sum overflowed.
func (s *stepper) step(lo, hi float64) (truncation.ErrorMoments, error) {
	const batches = 2
	var t tally
	for range batches {
		s.draw(lo, hi)
		s.factors.multiplyAdd(s.c, s.z)
		if err := s.observe(&t); err != nil {
			return truncation.ErrorMoments{}, err
		}
	}
	block := float64(s.k.Width()) * s.k.ProductMoments().Mean
	m := t.moments(block, s.nearest)
	if middle := math.Abs(lo+hi) / 2; s.dist != nil && middle > 0 {
		p, least := precision(s.k.coarsest()), math.Ilogb(s.k.Device.C.MinSubnormal())
		rounding := s.dist.at(max(least, math.Ilogb(middle)-p+1))
		m.Mean = float64(s.k.Width()/s.k.stepTerms()) * rounding.Mean
	}
	return m, nil
}

// draw draws the factors of products, and n² running sums in [lo, hi] that are
// multiples of the last bit of such products. If products have mean zero, every
// block occurs with both signs and is added to the same running sum.
func (s *stepper) draw(lo, hi float64) {
	s.factors.draw()
	grid := lastBit(s.factors.a.Data) * lastBit(s.factors.b.Data)
	for i := range s.c.Data {
		s.c.Data[i] = float32(grid * math.Round((lo+(hi-lo)*s.rng.Float64())/grid))
	}
	s.sums.RoundSlice32(s.c.Data, s.c.Data)
	if !s.symmetric {
		return
	}
	s.factors.mirror()
	copy(s.c.Data[len(s.c.Data)/2:], s.c.Data)
}

// observe adds the errors of the emulated steps to the tally. The error says
// that a sum overflowed.
func (s *stepper) observe(t *tally) error {
	for i := range s.c.Rows {
		row := matrix.Row(s.factors.a, i)
		for j := range s.c.Cols {
			p := 0.0
			for l, x := range row {
				p += float64(x) * float64(s.factors.b.Data[l*s.factors.b.Stride+j])
			}
			c, z := float64(s.c.Data[i*s.c.Stride+j]), float64(s.z.Data[i*s.z.Stride+j])
			e := z - c - p
			if math.IsNaN(e) || math.IsInf(e, 0) {
				return s.k.noPrediction(fmt.Sprintf("%v and products of sum %v overflow", c, p))
			}
			t.add(e, p)
		}
	}
	return nil
}

// fill stores numbers drawn from d and converted to f.
func fill(dst []float32, d Distribution, f tcore.Format, mode tcore.RoundingMode, rng *rand.Rand) {
	d = d.from(rng)
	for i := range dst {
		dst[i] = float32(f.Round(d.Rand(), mode))
	}
}

// lastBit returns the greatest power of two that divides all x, or 1 if all are
// 0.
func lastBit(x []float32) float64 {
	least := math.Inf(1)
	for _, v := range x {
		if v != 0 {
			fraction, exp := math.Frexp(float64(v))
			n := int64(math.Ldexp(fraction, 24))
			least = min(least, math.Ldexp(float64(n&-n), exp-24))
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}

// tally stores sums over steps: of the error e, the exact sum of products p,
// and their squares and products.
type tally struct{ n, e, p, ee, ep, pp float64 }

func (t *tally) add(e, p float64) {
	t.n++
	t.e += e
	t.p += p
	t.ee += e * e
	t.ep += e * p
	t.pp += p * p
}

// moments returns the moments of e, given the exact mean of p. It corrects the
// mean of e by its regression on p. The mean of errors of rounding to nearest
// is taken as 0 if it is within four standard errors of 0, because the random
// error of an estimate would accumulate in a long sum. [stepDistribution]
// provides smaller means.
func (t *tally) moments(mean float64, nearest bool) truncation.ErrorMoments {
	e, p := t.e/t.n, t.p/t.n
	m := truncation.ErrorMoments{Mean: e, Variance: max(0, t.ee/t.n-e*e), Covariance: t.ep/t.n - e*p}
	if v := t.pp/t.n - p*p; v > 0 {
		m.Mean += m.Covariance / v * (mean - p)
	}
	if nearest && math.Abs(m.Mean) < 4*math.Sqrt(m.Variance/t.n) {
		m.Mean = 0
	}
	return m
}
