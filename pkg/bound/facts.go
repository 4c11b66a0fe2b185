package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// facts are all that is known of a distribution. They do not change, but for
// what is computed of them when first asked for.
type facts struct {
	DataMoments

	draw   func(*rand.Rand) float64 // nil if nobody knows how
	lo, hi float64                  // every x is between them

	source                              // of what is known in full
	between  func(a, b float64) float64 // P(a < x < b) of a continuous distribution; or
	elements []float64                  // all numbers, equally likely

	beyond func(x float64) float64 // P(|x'| > x), or nil where that is not known
	exceed func(x float64) float64 // P(x' > x), likewise

	once  sync.Once
	above *valueDistribution // see coarse
}

// A source is what tells distributions apart that are known in full: equal
// sources have the same. The zero value is that of a distribution that is not.
type source struct {
	family family
	a, b   float64
	id     *int // of a matrix, or of a clipped distribution, of which the coarse distribution is known
}

// A family is one of distributions that are known in full.
type family int

const (
	uniformFamily family = 1 + iota // on [a, b]
	normalFamily                    // of mean a and standard deviation b
)

// inFull reports whether what is known of the distribution is told apart by its
// source, in full or clipped.
func (o *facts) inFull() bool { return o.source != source{} }

// falls reports whether it is known how fast the distribution falls off, or
// where it ends.
func (o *facts) falls() bool {
	return !math.IsInf(o.MaxAbs, 1) || o.family == normalFamily || o.beyond != nil
}

// quantile returns an x for which P(|x'| > x) <= p, near to the least; +Inf for
// p = 0.
func (o *facts) quantile(p float64) float64 {
	p *= 1 - 1e-9 // what is computed of tails may be a little less than they are
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

// clipped returns the distribution of x moved into [-largest, largest], where
// it has no limit and it is known how fast it falls off.
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

// A clipKey is what clipped depends on.
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
		MeanSquare: o.variance() + mean*mean, // moving numbers nearer to each other
		MeanAbs:    z.above.mean(math.Abs),   // 0 is one of those of the coarse distribution
		MaxAbs:     max(-z.lo, z.hi),
		Symmetric:  o.Symmetric,
	}
	if o.Symmetric {
		z.Mean = 0
	}
	return z
}

// fourth returns E x⁴, or more.
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

// coarse returns a distribution of few numbers for that of a bounded
// distribution, of the same mean, under which no convex function has a smaller
// one: between two of the numbers every x is replaced by them, with
// probabilities that leave its mean. It is nil where not so much is known.
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
		if len(sample) > 1<<12 { // of so many numbers all over, the quantiles will do
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

// trapezoids returns the coarse distribution of the uniform distribution.
func trapezoids(ends []float64) *valueDistribution {
	n := len(ends) - 1
	l := &valueDistribution{ends, make([]float64, n+1)}
	for i := range n {
		l.probabilities[i] += 0.5 / float64(n)
		l.probabilities[i+1] += 0.5 / float64(n)
	}
	return l
}

// chords returns the coarse distribution of elements.
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

// hats returns the coarse distribution of numbers between lo and hi, of which
// P(x' > x) is known: 128 panels of equal length within 8 deviations of 0, and
// from there panels an eighth longer each than the last. A number's probability
// is the mean of the function that is 1 there and falls to 0 at its neighbours.
func hats(lo, hi, deviation float64, exceed func(x float64) float64) *valueDistribution {
	const slack = 1e-12 // of what is integrated
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
	left := 1.0 // the mean of what rises from 0 to 1 before a number
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
