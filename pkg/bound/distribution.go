package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Distribution is what is known of the elements of a matrix: they are independent numbers x
// with these moments. Draw returns one of them, for those who want to try.
type Distribution struct {
	Name      string
	Mean      float64 // E x
	Square    float64 // E x²
	Abs       float64 // E|x|
	Max       float64 // |x| is at most that; +Inf if it has no limit
	Symmetric bool    // x and -x are equally likely
	Draw      func(*rand.Rand) float64

	normal bool
	origin *origin
}

// Uniform returns the uniform distribution on [lo, hi]. It panics unless lo < hi, both finite.
func Uniform(lo, hi float64) Distribution {
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		panic(fmt.Sprintf("bound: U(%v, %v), want lo < hi, both finite", lo, hi))
	}
	abs := math.Abs(lo+hi) / 2
	if lo < 0 && hi > 0 {
		abs = (lo*lo + hi*hi) / (2 * (hi - lo))
	}
	d := Distribution{
		Name:   fmt.Sprintf("U(%v,%v)", lo, hi),
		Mean:   (lo + hi) / 2,
		Square: (lo*lo + lo*hi + hi*hi) / 3,
		Abs:    abs,
		Max:    max(math.Abs(lo), math.Abs(hi)),
		Draw:   func(r *rand.Rand) float64 { return lo + (hi-lo)*r.Float64() },

		Symmetric: lo == -hi,
	}
	return d.from(&origin{source: source{uniform: true, a: lo, b: hi}, lo: lo, hi: hi, between: func(a, b float64) float64 {
		return max(0, min(b, hi)-max(a, lo)) / (hi - lo)
	}})
}

// Normal returns the normal distribution of mean μ and standard deviation σ. It panics unless μ
// is finite and σ positive and finite.
func Normal(μ, σ float64) Distribution {
	if !(σ > 0) || math.IsInf(σ, 0) || math.IsNaN(μ) || math.IsInf(μ, 0) {
		panic(fmt.Sprintf("bound: N(%v, %v), want a finite mean and a positive deviation", μ, σ))
	}
	z := μ / σ
	d := Distribution{
		Name:   fmt.Sprintf("N(%v,%v)", μ, σ),
		Mean:   μ,
		Square: μ*μ + σ*σ,
		Abs:    σ*math.Sqrt(2/math.Pi)*math.Exp(-z*z/2) + μ*math.Erf(z/math.Sqrt2),
		Max:    math.Inf(1),
		Draw:   func(r *rand.Rand) float64 { return μ + σ*r.NormFloat64() },

		Symmetric: μ == 0,
		normal:    true,
	}
	return d.from(&origin{source: source{a: μ, b: σ}, lo: math.Inf(-1), hi: math.Inf(1), between: func(a, b float64) float64 {
		if a < μ { // the tail that loses no digits
			a, b = 2*μ-b, 2*μ-a
		}
		return (math.Erfc((a-μ)/(σ*math.Sqrt2)) - math.Erfc((b-μ)/(σ*math.Sqrt2))) / 2
	}})
}

var distribution = regexp.MustCompile(`^ *([UN]) *[(\[] *([^ ,]+) *, *([^ ,)\]]+) *[)\]] *$`)

// ParseDistribution returns the distribution that s names, as in "U(-1,1)" and "N(0,1)".
func ParseDistribution(s string) (Distribution, error) {
	m := distribution.FindStringSubmatch(s)
	if m == nil {
		return Distribution{}, fmt.Errorf("bound: distribution %q, want U(lo,hi) or N(mean,deviation)", s)
	}
	x, errX := strconv.ParseFloat(m[2], 64)
	y, errY := strconv.ParseFloat(m[3], 64)
	finite := errX == nil && errY == nil && !math.IsNaN(x-x) && !math.IsNaN(y-y)
	switch {
	case finite && m[1] == "U" && x < y && !math.IsInf(y-x, 0):
		return Uniform(x, y), nil
	case finite && m[1] == "N" && y > 0:
		return Normal(x, y), nil
	}
	return Distribution{}, fmt.Errorf("bound: distribution %q, want finite numbers, lo < hi at a finite distance, or deviation > 0", s)
}

// MomentsOf returns what a bound that takes data as independent numbers needs to know of a given
// matrix: the moments of an element that is picked at random. Its Draw picks one.
// An error says that the matrix is empty, or names an element that is not finite.
func MomentsOf(name string, m blas64.General) (Distribution, error) {
	if err := checkFinite(name, m.Rows, m.Cols, m.Stride, m.Data); err != nil {
		return Distribution{}, err
	}
	x := make([]float64, 0, max(0, m.Rows*m.Cols))
	for i := range m.Rows {
		x = append(x, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
	}
	if len(x) == 0 {
		return Distribution{}, fmt.Errorf("bound: %s is %d × %d, want a matrix that is not empty", name, m.Rows, m.Cols)
	}
	d, n := Distribution{Name: name, Mean: x[0], Abs: math.Abs(x[0])}, float64(len(x))
	for _, v := range x {
		d.Mean += (v - x[0]) / n
		d.Abs += (math.Abs(v) - math.Abs(x[0])) / n
		d.Max = max(d.Max, math.Abs(v))
	}
	for _, v := range x {
		d.Square += (v - d.Mean) / n * (v - d.Mean)
	}
	// What rounding may have spoilt: |E x| <= E|x| <= √E x² <= Max.
	d.Square = min(d.Square+d.Mean*d.Mean, d.Max*d.Max)
	d.Abs = min(max(d.Abs, math.Abs(d.Mean)), math.Sqrt(d.Square))
	d.Draw = func(r *rand.Rand) float64 { return x[r.IntN(len(x))] }
	return d.from(&origin{source: source{id: new(int)}, lo: slices.Min(x), hi: slices.Max(x), elements: x}), nil
}

// known reports whether anything is.
func (d Distribution) known() bool { return d.Max != 0 || d.Square != 0 || d.Abs != 0 || d.Mean != 0 }

// variance returns Var x.
func (d Distribution) variance() float64 { return max(0, d.Square-d.Mean*d.Mean) }

// largest returns what none of n numbers exceeds in size, but for a failure of e^f; +Inf if that
// is not known.
func (d Distribution) largest(n float64, f roundoff.Failure) float64 {
	if !d.normal {
		return d.Max
	}
	return math.Abs(d.Mean) + math.Sqrt(d.variance())*roundoff.Azuma(1, f.Split(n))
}

// Check returns an error if no random number has these moments.
func (d Distribution) Check() error {
	const ε = 1e-12 // moments are computed
	switch variance := d.Square - d.Mean*d.Mean; {
	case !(d.Square >= 0) || math.IsInf(d.Square, 1):
		return fmt.Errorf("bound: %s: mean square %v, want it finite and not negative", d.Name, d.Square)
	case !(variance >= -ε*d.Square):
		return fmt.Errorf("bound: %s: variance %v, want it not negative", d.Name, variance)
	case !(d.Abs >= math.Abs(d.Mean)*(1-ε)):
		return fmt.Errorf("bound: %s: E|x| = %v, want at least |E x| = %v", d.Name, d.Abs, math.Abs(d.Mean))
	case !(d.Abs*d.Abs <= d.Square*(1+ε)):
		return fmt.Errorf("bound: %s: E|x| = %v, want at most √E x² = %v", d.Name, d.Abs, math.Sqrt(d.Square))
	case !(d.Max*d.Max >= d.Square*(1-ε)):
		return fmt.Errorf("bound: %s: greatest |x| is %v, below √E x² = %v", d.Name, d.Max, math.Sqrt(d.Square))
	}
	return nil
}

// product returns the distribution of xy, x and y independent. Its Draw is nil.
func (d Distribution) product(e Distribution) Distribution {
	return Distribution{
		Name:   d.Name + " × " + e.Name,
		Mean:   d.Mean * e.Mean,
		Square: d.Square * e.Square,
		Abs:    d.Abs * e.Abs,
		Max:    d.Max * e.Max,
	}
}
