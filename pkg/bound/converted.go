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

// A converted is what is known of numbers after their conversion to a format.
type converted struct {
	mean, off float64 // |E x̂ - mean| <= off
	abs       float64 // E|x̂|, or less
	square    float64 // E x̂², or more
	deviation float64 // √Var x̂, or more
	lo, hi    float64 // no x̂ is beyond
}

// converted returns what conversion to a format leaves of numbers of the
// distribution: it moves each by at most u of its size and a step of the
// subnormal numbers. Of the elements of a matrix, and where all numbers of the
// format can be counted, it is exact.
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

// rounded returns a distribution and by which part of its size conversion to a
// format changes a number of that at most, and by how much a subnormal one: of
// the elements of a matrix their conversion, which changes no more.
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
			return d, relative, absolute // beyond the format
		}
		r.known.coarse()
		r.known.elements, r.known.draw = nil, nil // which take room
		roundedTables.keep(key, r)
	}
	return r, 0, 0
}

var roundedTables table[valueKey, Distribution]

// largestFactors returns what no element of A and B exceeds in size after
// conversion, nor in size before, but for a failure of e^f; +Inf where one may
// overflow.
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

// clipped returns the problem of factors that are moved to where
// [Problem.largestFactors] has them, which none is beyond but for a failure of
// e^f, and where that is.
func (k Problem) clipped(f roundoff.Failure) (clipped Problem, x, y float64) {
	x, y = k.largestFactors(f)
	k.X, k.Y = k.X.clipped(x), k.Y.clipped(y)
	return k, x, y
}

// A productMoments is what is known of |p̂| and p̂, products of numbers that
// were converted.
type productMoments struct {
	mean     float64 // |E p̂|, or more
	center   float64 // |E x| |E y|, before conversion
	off      float64 // E p̂ is that near to E x E y, or nearer
	abs      float64 // E|p̂|, or less
	square   float64 // E p̂², or more
	variance float64 // Var p̂, or more
	lo, hi   float64 // no p̂ is beyond
}

// largest returns what no |p̂| exceeds, and least what none is below.
func (p productMoments) largest() float64 { return max(math.Abs(p.lo), math.Abs(p.hi)) }
func (p productMoments) least() float64   { return max(0, p.lo, -p.hi) }

// products returns what is known of products of elements of A and B, as the
// machine multiplies them.
func (k Problem) products() productMoments {
	x, y := k.converted(k.Device.A, k.X), k.converted(k.Device.B, k.Y)
	mx, my := math.Abs(x.mean)+x.off, math.Abs(y.mean)+y.off
	corners := []float64{x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi}
	if slices.ContainsFunc(corners, math.IsNaN) { // of a factor that is 0 and one without end
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

// A valueDistribution is the distribution of numbers of a format of few bits.
type valueDistribution struct {
	values, probabilities []float64
}

// distributionOf returns the distribution of the numbers of a format that those
// of the distribution become, nil if the format has too many or the
// distribution is not known in full.
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
		*l = k.count(f, len(o.elements), func(i int) float64 { return o.elements[i] })
	} else {
		*l = measure(f, k.Device.Convert, o.between)
	}
	valueTables.keep(key, l)
	return l
}

// mean returns the mean of f.
func (l *valueDistribution) mean(f func(x float64) float64) float64 {
	sum := 0.0
	for i, v := range l.values {
		sum += l.probabilities[i] * f(v)
	}
	return sum
}

// converted returns the moments of the distribution, exactly.
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

// measure returns the distribution of the numbers of a format that those of a
// continuous distribution become, given P(a < x < b). What overflows counts as
// the greatest number.
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
			lo, hi := v, values[i+1] // where one becomes the other
			for range 60 {
				if m := lo + (hi-lo)/2; f.Round(m, mode) <= v {
					lo = m
				} else {
					hi = m
				}
			}
			to = float64(float32(hi)) // which has few bits
		}
		if p := between(from, to); p > 0 {
			l.values, l.probabilities = append(l.values, v), append(l.probabilities, p)
		}
		from = to
	}
	return l
}

// count returns the numbers of f that n elements become, ascending, and how
// often.
func (k Problem) count(f tcore.Format, n int, element func(i int) float64) valueDistribution {
	count := map[float64]float64{}
	for i := range n {
		count[k.element(element(i), f)+0]++
	}
	var l valueDistribution
	for _, v := range slices.Sorted(maps.Keys(count)) {
		l.values, l.probabilities = append(l.values, v), append(l.probabilities, count[v]/float64(n))
	}
	return l
}

// draws is count of n numbers that are drawn.
func (k Problem) draws(f tcore.Format, d Distribution, n int, rng *rand.Rand) valueDistribution {
	d = d.from(rng)
	return k.count(f, n, func(int) float64 { return d.Rand() })
}
