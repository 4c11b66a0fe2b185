package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// facts contains all that is known of a distribution. It does not change,
// except that the coarse distribution is computed when first needed.
type facts struct {
	DataMoments

	draw   func(*rand.Rand) float64 // nil if it is unknown how to draw
	lo, hi float64                  // every x lies in [lo, hi]

	source                              // identifies a distribution that is known in full
	between  func(a, b float64) float64 // P(a < x < b) of a continuous distribution; or
	elements []float64                  // all numbers, equally likely
	law      *law                       // of a continuous distribution, or nil if unknown

	beyond func(x float64) float64 // P(|x'| > x), or nil if unknown
	exceed func(x float64) float64 // P(x' > x), or nil if unknown

	once  sync.Once
	above *valueDistribution // the coarse distribution, see coarse
}

// A source identifies a distribution that is known in full: equal sources
// belong to equal distributions. The zero value belongs to those that are not
// known in full.
type source struct {
	family family
	a, b   float64
	id     *int // of a matrix, or of a clipped distribution, whose coarse distribution is known
}

// A family is a parametric family of distributions.
type family int

const (
	uniformFamily family = 1 + iota // on [a, b]
	normalFamily                    // of mean a and standard deviation b
	laplaceFamily                   // of mean a and mean distance b from it
)

// inFull reports whether the source identifies the distribution: it is known in
// full, or clipped.
func (o *facts) inFull() bool { return o.source != source{} }

// falls reports whether the distribution is bounded, or its tails are known.
func (o *facts) falls() bool {
	return !math.IsInf(o.MaxAbs, 1) || o.family == normalFamily || o.beyond != nil
}

// quantile returns an x close to the least one with P(|x'| > x) <= p; +Inf for
// p = 0.
func (o *facts) quantile(p float64) float64 {
	p *= 1 - 1e-9 // computed tail probabilities may be a little too small
	if !(p > 0) {
		return math.Inf(1)
	}
	hi := math.Sqrt(o.MeanSquare/p) * (1 + 1e-9) // Chebyshev
	for lo := 0.0; ; {
		m := lo + (hi-lo)/2
		switch {
		case !(hi-lo > 1e-12*hi):
			return hi
		case o.beyond(m) <= p:
			hi = m
		default:
			lo = m
		}
	}
}

// clipped returns the distribution of x clipped to [-largest, largest]. It
// returns d if the tails of d are unknown, or if no x is beyond these limits.
func (d Distribution) clipped(largest float64) Distribution {
	o := d.of()
	if o.beyond == nil || !(largest < o.MaxAbs) {
		return d
	}
	key := clipKey{o, largest}
	clipTables.Lock()
	defer clipTables.Unlock()
	z, ok := clipTables.known[key]
	if !ok {
		z = o.clipped(largest)
		clipTables.keep(key, z)
	}
	return Distribution{d.Src, d.name, z}
}

// A clipKey contains what the result of clipped depends on.
type clipKey struct {
	of      *facts
	largest float64
}

var clipTables table[clipKey, *facts]

func (o *facts) clipped(largest float64) *facts {
	z := &facts{
		source: source{id: new(int)},
		lo:     max(o.lo, -largest),
		hi:     min(o.hi, largest),
		draw:   func(r *rand.Rand) float64 { return min(max(o.draw(r), -largest), largest) },
	}
	z.above = hats(z.lo, z.hi, math.Sqrt(o.variance()), o.exceed)
	z.once.Do(func() {})
	mean := z.above.mean(func(x float64) float64 { return x })
	z.DataMoments = DataMoments{
		Mean:       mean,
		MeanSquare: o.variance() + mean*mean, // clipping does not increase the variance
		// 0 is a value of the coarse distribution, and |x| is linear between values.
		MeanAbs:   z.above.mean(math.Abs),
		MaxAbs:    max(-z.lo, z.hi),
		Symmetric: o.Symmetric,
	}
	if o.Symmetric {
		z.Mean = 0
	}
	return z
}

// fourth returns an upper bound of E x⁴.
func (d Distribution) fourth() float64 {
	o := d.of()
	switch {
	case o.family == normalFamily:
		m, s := o.Mean*o.Mean, o.variance()
		return m*m + 6*m*s + 3*s*s
	case o.coarse() != nil:
		return o.coarse().mean(func(x float64) float64 { return x * x * x * x })
	}
	return o.MeanSquare * o.MaxAbs * o.MaxAbs
}

// coarse returns a discrete distribution with few values in place of a bounded
// distribution. It has the same mean, and E f(x) is no smaller for any convex
// f: every x between two of the values is replaced by one of them at random,
// with probabilities that preserve its mean. It is nil unless the distribution
// is uniform, clipped, or that of the elements of a matrix.
func (o *facts) coarse() *valueDistribution {
	o.once.Do(func() {
		if o.family != uniformFamily && o.elements == nil {
			return
		}
		const panels = 64
		ends := make([]float64, 0, 2*panels+1)
		for i := range panels {
			ends = append(ends, o.lo+(o.hi-o.lo)*float64(i)/panels)
		}
		ends = append(ends, o.hi)
		if o.family == uniformFamily {
			o.above = trapezoids(ends)
			return
		}
		sample := slices.Clone(o.elements)
		if len(sample) > 1<<12 { // the quantiles of this many elements, evenly spaced, suffice
			sample = sample[:0]
			for i := range 1 << 12 {
				sample = append(sample, o.elements[i*(len(o.elements)>>12)])
			}
		}
		slices.Sort(sample)
		for i := 1; i < panels/2; i++ {
			ends = append(ends, sample[i*len(sample)*2/panels])
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
		o.above = chords(ends, o.elements)
	})
	return o.above
}

// trapezoids returns the coarse distribution of the uniform distribution. Its
// values are ends, which are evenly spaced.
func trapezoids(ends []float64) *valueDistribution {
	n := len(ends) - 1
	l := &valueDistribution{ends, make([]float64, n+1)}
	for i := range n {
		l.probabilities[i] += 0.5 / float64(n)
		l.probabilities[i+1] += 0.5 / float64(n)
	}
	return l
}

// chords returns the coarse distribution of the given elements. Its values are
// ends.
func chords(ends, elements []float64) *valueDistribution {
	l := &valueDistribution{ends, make([]float64, len(ends))}
	n := float64(len(elements))
	for _, x := range elements {
		i, found := slices.BinarySearch(ends, x)
		if found {
			l.probabilities[i] += 1 / n
			continue
		}
		right := (x - ends[i-1]) / (ends[i] - ends[i-1])
		l.probabilities[i-1] += (1 - right) / n
		l.probabilities[i] += right / n
	}
	return l
}

// hats returns the coarse distribution of numbers in [lo, hi], given exceed(x)
// = P(x' > x). Its values are the ends of 128 panels of equal length within 8
// standard deviations of 0, and of panels beyond them that are each one eighth
// longer than the last. The probability of a value is the mean of the hat
// function that is 1 there and falls to 0 at the neighbouring values.
func hats(lo, hi, deviation float64, exceed func(x float64) float64) *valueDistribution {
	const slack = 1e-12 // allowance for errors of the integrals
	ends := []float64{lo, hi}
	for x, step := 0.0, deviation/8; x < max(-lo, hi); x += step {
		if x >= 8*deviation {
			step *= 1.125
		}
		for _, v := range []float64{-x, x} {
			if lo < v && v < hi {
				ends = append(ends, v)
			}
		}
	}
	slices.Sort(ends)
	l := valueDistribution{slices.Compact(ends), nil}
	left := 1.0 // the mean of the function that rises from 0 at the last value to 1 at x
	for i, x := range l.values {
		right := 0.0
		if i+1 < len(l.values) {
			to := l.values[i+1]
			right = integral(exceed, x, to, slack*(to-x), 45) / (to - x)
		}
		l.probabilities = append(l.probabilities, max(0, left-right)+slack)
		left = right
	}
	return &l
}
