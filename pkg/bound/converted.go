package bound

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// A converted contains what is known of a random number x̂ after its conversion
// to a format.
type converted struct {
	mean, off float64 // |E x̂ - mean| <= off
	abs       float64 // lower bound of E|x̂|
	square    float64 // upper bound of E x̂²
	deviation float64 // upper bound of √Var x̂
	lo, hi    float64 // every x̂ lies in [lo, hi]
}

// converted returns what is known of numbers with distribution d after their
// conversion to f. Conversion to nearest changes a number by at most u times
// its size, or half a step of the subnormal numbers; other conversions change
// it by at most twice that. The result is exact for the elements of a matrix,
// and for distributions that are known in full and formats of at most 8 bits.
func (k Problem) converted(f tcore.Format, d Distribution) converted {
	if l := k.distributionOf(f, d); l != nil {
		return l.converted()
	}
	d, u, η := k.rounded(f, d)
	o := d.of()
	σ, root := math.Sqrt(o.variance()), math.Sqrt(o.MeanSquare)
	z := converted{
		mean: o.Mean, off: u*o.MeanAbs + η,
		abs:       max(0, (1-u)*o.MeanAbs-η),
		square:    ((1+u)*root + η) * ((1+u)*root + η),
		deviation: σ + u*root + η,
		lo:        f.Round(o.lo, k.Device.Convert), hi: f.Round(o.hi, k.Device.Convert),
	}
	if o.Symmetric {
		z.off = 0
	}
	return z
}

// rounded returns a distribution r and bounds on what conversion to f changes:
// at most relative times the size of a number, and at most absolute for a
// subnormal one. For the elements of a matrix, r is the distribution of the
// converted elements and both bounds are 0. Otherwise r is d.
func (k Problem) rounded(f tcore.Format, d Distribution) (r Distribution, relative, absolute float64) {
	relative, absolute = f.UnitRoundoff(), conversionStep(f, k.Device.Convert)
	if k.Device.Convert != tcore.ToNearestEven {
		relative *= 2
	}
	o := d.of()
	if o.elements == nil {
		return d, relative, absolute
	}
	key := valueKey{o.source, f, k.Device.Convert}
	roundedTables.Lock()
	defer roundedTables.Unlock()
	r, ok := roundedTables.known[key]
	if !ok {
		x := slices.Clone(o.elements)
		f.RoundSlice(x, x, k.Device.Convert)
		var err error
		if r, err = MomentsOf(d.name, blas64.General{Rows: 1, Cols: len(x), Stride: len(x), Data: x}); err != nil {
			return d, relative, absolute // an element overflows
		}
		r.known.coarse()
		r.known.elements, r.known.draw = nil, nil // to save memory
		roundedTables.keep(key, r)
	}
	return r, 0, 0
}

var roundedTables table[valueKey, Distribution]

// largestFactors returns upper bounds of the sizes of all elements of A and of
// B, before and after conversion. They fail with probability at most e^f, and
// are +Inf if an element may overflow.
func (k Problem) largestFactors(f roundoff.Failure) (x, y float64) {
	of := func(format tcore.Format, d Distribution, n float64) float64 {
		largest := d.Largest(n, f.Split(2))
		if z := format.Round(largest, tcore.ToNearestEven); z >= largest {
			return z
		} else if math.IsNaN(z) || math.IsInf(z, 0) {
			return math.Inf(1)
		}
		return largest
	}
	return of(k.Device.A, k.X, float64(k.M)*float64(k.K)), of(k.Device.B, k.Y, float64(k.K)*float64(k.N))
}

// clipped returns the problem with the elements of A and B clipped to the
// bounds of [Problem.largestFactors], and these bounds. With probability at
// least 1 - e^f, clipping changes no element.
func (k Problem) clipped(f roundoff.Failure) (clipped Problem, x, y float64) {
	x, y = k.largestFactors(f)
	k.X, k.Y = k.X.clipped(x), k.Y.clipped(y)
	return k, x, y
}

// A productMoments contains what is known of p̂, a product of two converted
// numbers.
type productMoments struct {
	mean     float64 // upper bound of |E p̂|
	center   float64 // |E x| |E y|, before conversion
	off      float64 // upper bound of the distance of E p̂ from E x E y
	abs      float64 // lower bound of E|p̂|
	square   float64 // upper bound of E p̂²
	variance float64 // upper bound of Var p̂
	lo, hi   float64 // every p̂ lies in [lo, hi]
}

// largest returns an upper bound of |p̂|, and least a lower bound.
func (p productMoments) largest() float64 { return max(math.Abs(p.lo), math.Abs(p.hi)) }
func (p productMoments) least() float64   { return max(0, p.lo, -p.hi) }

// products returns what is known of products of elements of A and B, as the
// machine multiplies them.
func (k Problem) products() productMoments {
	x, y := k.converted(k.Device.A, k.X), k.converted(k.Device.B, k.Y)
	mx, my := math.Abs(x.mean)+x.off, math.Abs(y.mean)+y.off
	corners := []float64{x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi}
	if slices.ContainsFunc(corners, math.IsNaN) { // one factor is 0 and the other unbounded
		corners = []float64{math.Inf(-1), math.Inf(1)}
	}
	p := productMoments{
		mean:     mx * my,
		center:   math.Abs(x.mean * y.mean),
		abs:      x.abs * y.abs,
		square:   x.square * y.square,
		variance: x.deviation*x.deviation*y.square + mx*mx*y.deviation*y.deviation,
		lo:       slices.Min(corners), hi: slices.Max(corners),
	}
	if k.X.Symmetric() || k.Y.Symmetric() {
		p.mean, p.center = 0, 0
	}
	p.off = p.mean - p.center
	p.mean = min(p.mean, p.largest())
	return p
}

// A valueDistribution is a discrete distribution: values and their
// probabilities.
type valueDistribution struct {
	values, probabilities []float64
}

// distributionOf returns the distribution of numbers with distribution d after
// their conversion to f. It is nil if f has more than 8 bits or d is not known
// in full.
func (k Problem) distributionOf(f tcore.Format, d Distribution) *valueDistribution {
	o := d.of()
	if o.between == nil && o.elements == nil || f.Bits() > 8 {
		return nil
	}
	key := valueKey{o.source, f, k.Device.Convert}
	valueTables.Lock()
	defer valueTables.Unlock()
	if l, ok := valueTables.known[key]; ok {
		return l
	}
	l := new(valueDistribution)
	if o.elements != nil {
		*l = k.count(f, slices.Clone(o.elements))
	} else {
		*l = measure(f, k.Device.Convert, o.between)
	}
	valueTables.keep(key, l)
	return l
}

// mean returns E f(x).
func (l *valueDistribution) mean(f func(x float64) float64) float64 {
	sum := 0.0
	for i, v := range l.values {
		sum += l.probabilities[i] * f(v)
	}
	return sum
}

// converted returns the exact moments of the distribution.
func (l *valueDistribution) converted() converted {
	z := converted{lo: math.Inf(1), hi: math.Inf(-1)}
	for i, v := range l.values {
		p := l.probabilities[i]
		z.mean += p * v
		z.abs += p * math.Abs(v)
		z.square += p * v * v
		z.lo, z.hi = min(z.lo, v), max(z.hi, v)
	}
	variance := l.mean(func(v float64) float64 { return (v - z.mean) * (v - z.mean) })
	z.deviation = math.Sqrt(variance)
	return z
}

// measure returns the distribution of the numbers of a continuous distribution
// after their conversion to f, given between(a, b) = P(a < x < b). A number
// that overflows counts as the largest number of f.
func measure(f tcore.Format, mode tcore.RoundingMode, between func(a, b float64) float64) valueDistribution {
	numbers := map[float64]bool{}
	for code := range uint64(1) << f.Bits() {
		if v := f.Decode(code); !math.IsNaN(v) && !math.IsInf(v, 0) && f.Round(v, mode) == v {
			numbers[v+0] = true // -0 is 0
		}
	}
	var l valueDistribution
	values, from := slices.Sorted(maps.Keys(numbers)), math.Inf(-1)
	for i, v := range values {
		to := math.Inf(1)
		if i+1 < len(values) {
			lo, hi := v, values[i+1] // the boundary between v and the next number
			for range 60 {
				if m := lo + (hi-lo)/2; f.Round(m, mode) <= v {
					lo = m
				} else {
					hi = m
				}
			}
			to = float64(float32(hi)) // the boundary has few bits
		}
		if p := between(from, to); p > 0 {
			l.values, l.probabilities = append(l.values, v), append(l.probabilities, p)
		}
		from = to
	}
	return l
}

// count converts the elements x to f and returns their distribution: the values
// in ascending order, and their relative frequencies.
func (k Problem) count(f tcore.Format, x []float64) valueDistribution {
	k.convertFinite(x, f)
	count := map[float64]float64{}
	for _, v := range x {
		count[v+0]++
	}
	var l valueDistribution
	for _, v := range slices.Sorted(maps.Keys(count)) {
		l.values, l.probabilities = append(l.values, v), append(l.probabilities, count[v]/float64(len(x)))
	}
	return l
}

// draws returns [Problem.count] of n numbers drawn from d.
func (k Problem) draws(f tcore.Format, d Distribution, n int, rng *rand.Rand) valueDistribution {
	x := make([]float64, n)
	d.draw(x, rng)
	return k.count(f, x)
}
