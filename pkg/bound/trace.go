package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// noTrace returns why a run of the kernel has no trace of its blocks, or "".
func noTrace(k Kernel) string {
	c, ok := k.Core.(tcore.Fused)
	switch {
	case !ok:
		return k.Name + " does not align all terms of a step at once: there is no trace of that"
	case c.Group > 0:
		return k.Name + " adds groups of products before it aligns them"
	case k.ScaleBlock > 0:
		return k.Name + " scales its products"
	}
	return ""
}

// A step is one block of a trace, with what follows from it.
type step struct {
	exponent int     // E, that all was aligned to
	set      bool    // by a product: the running sum has a smaller exponent
	grid     float64 // g = 2^(E-F)
	cut      float64 // a, what the running sum lost
	sum      float64 // ŝ, after it
}

// steps calls f with the steps of an output.
func (o Output) steps(k Kernel, f func(i int, s step)) {
	c := k.Core.(tcore.Fused)
	before := 0.0
	for i, E := range o.Exponents {
		grid := math.Ldexp(1, E-c.FractionBits)
		e := c.ZeroExponent
		if before != 0 {
			e = max(math.Ilogb(before), k.C.Emin)
		}
		f(i, step{E, E > e, grid, before - grid*math.Trunc(before/grid), o.Sums[i]})
		before = o.Sums[i]
	}
}

// ulp returns the unit in the last place of the sum of the step, 0 if it is 0.
func (s step) ulp(k Kernel) float64 {
	if s.sum == 0 {
		return 0
	}
	c := k.Core.(tcore.Fused)
	return 2 * halfUlp(s.sum, c.Result.Precision)
}

// traced reports whether the output has what bounds of a trace read.
func (o Output) traced(k Kernel) bool {
	return noTrace(k) == "" && len(o.Blocks) > 0 && len(o.Blocks) == len(o.Exponents)
}

// A lossSum adds up what the products of the blocks of an output are expected to lose.
type lossSum struct {
	losses *roundoff.Losses
	terms  int
	sides  float64 // log(2/ζ) of what is not known of the law

	characters roundoff.Failure // of each law of a rounding

	mean     float64 // of what is lost
	slack    float64 // of blocks that the law does not know
	cumulant roundoff.Cumulant

	blocks    perBlock[*roundoff.BlockLoss] // of losses
	roundings perExponent[roundingKind]     // of losses, the last of its exponent
	rows      perExponent[*termRow]         // of losses
	errors    perBlock[float64]             // standard deviations of estimates, which add up within one kind
}

// perBlock keeps a value for every kind of block: by its exponent, and whether a product set that.
type perBlock[T any] [2]perExponent[T]

func (p *perBlock[T]) at(e int, set bool) *T {
	if set {
		return p[1].at(e)
	}
	return p[0].at(e)
}

func newLossSum(k Kernel, l *roundoff.Losses, f roundoff.Failure) *lossSum {
	const most = 256 // of exponents and units in the last place
	return &lossSum{losses: l, terms: k.Width(), sides: 2*math.Ln2 - float64(f),
		characters: f - roundoff.Failure(math.Log(16*most))}
}

// block returns what blocks as that of a step lose.
func (s *lossSum) block(at step) *roundoff.BlockLoss {
	b := s.blocks.at(at.exponent, at.set)
	if *b == nil {
		loss := s.losses.Block(s.terms, at.exponent, at.set)
		*b = &loss
	}
	return *b
}

// roundingKind is what rounding to a multiple of u loses.
type roundingKind struct {
	u float64
	roundoff.RoundingLoss
}

// rounding returns what rounding of what was aligned to E to a multiple of u loses.
func (s *lossSum) rounding(E int, u float64, nearest bool) *roundingKind {
	r := s.roundings.at(E)
	if r.u != u {
		*r = roundingKind{u, s.losses.Rounding(s.terms, E, u, nearest, s.characters)}
	}
	return r
}

// add adds a block or a product that is expected to lose mean, give or take variance, of size at
// most largest. What a sample cannot tell, 7l/3 grains of mean and as many of variance, is the
// last term of the empirical Bernstein inequality (Maurer & Pontil 2009, Theorem 4).
func (s *lossSum) add(mean, variance, largest, grain float64) {
	blur := 7. / 3 * s.sides * grain
	s.mean += mean
	s.slack += blur
	s.cumulant.Add(variance+blur*largest, largest)
}

// blind allows for products of which nothing is known.
func (s *lossSum) blind(n int, grid float64) { s.slack += float64(n) * grid }

// radius returns how far what is lost is from its mean, at most, for one output.
func (s *lossSum) radius(k Kernel, f roundoff.Failure) float64 {
	half := f - roundoff.Failure(math.Ln2)
	t := s.slack + s.cumulant.Tail(s.scale(k, half), k.eachOutput(half))
	if !math.IsInf(s.losses.Law.Samples, 1) {
		squares := 0.0
		for _, p := range s.errors {
			for _, e := range p.values {
				squares += e * e
			}
		}
		t += roundoff.Azuma(squares, half)
	}
	return t
}

// scale returns a θ for [roundoff.Cumulant.Tail], from the law of the products alone: that of
// sums of the size that is expected.
func (s *lossSum) scale(k Kernel, f roundoff.Failure) float64 {
	law, n := s.losses.Law, float64(k.Length())
	size := n*math.Abs(law.Mean)/2 + math.Sqrt(n*law.Variance/2)
	if size == 0 {
		return 1
	}
	E := math.Ilogb(size)
	v := s.losses.Block(s.terms, E, false).Variance * float64(k.Blocks())
	if v == 0 {
		v = n * math.Ldexp(1, 2*(E-s.losses.F)) / 12
	}
	return roundoff.Azuma(1, k.eachOutput(f)) / math.Sqrt(v)
}
