package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Distribution describes independent random numbers x, the elements of a
// matrix: their moments, an upper bound of n such numbers, and how to draw one.
// Its methods have the names that gonum's distuv uses. It is a [distuv.Rander],
// and [FromRander] converts any other Rander to a Distribution. Nothing is
// known of the zero value.
type Distribution struct {
	Src rand.Source // the generator that Rand uses, as in distuv; nil: the global one

	name  string
	known *facts
}

// DataMoments are the moments of random numbers x. Most bounds from the
// distribution of the data need nothing else.
type DataMoments struct {
	Mean       float64 // E x
	MeanSquare float64 // E x²
	MeanAbs    float64 // E|x|
	MaxAbs     float64 // upper bound of |x|; +Inf if there is none
	Symmetric  bool    // x and -x are equally likely
}

// variance returns Var x.
func (m DataMoments) variance() float64 { return max(0, m.MeanSquare-m.Mean*m.Mean) }

// Uniform returns the uniform distribution on [lo, hi]. It panics unless lo <
// hi and hi - lo is finite.
func Uniform(lo, hi float64) Distribution {
	if !(lo < hi) || math.IsInf(hi-lo, 0) {
		panic(fmt.Sprintf("bound: U(%v, %v), want lo < hi, both finite", lo, hi))
	}
	abs := math.Abs(lo+hi) / 2
	if lo < 0 && hi > 0 {
		abs = (lo*lo + hi*hi) / (2 * (hi - lo))
	}
	return Distribution{name: fmt.Sprintf("U(%v,%v)", lo, hi), known: &facts{
		DataMoments: DataMoments{
			Mean:       (lo + hi) / 2,
			MeanSquare: (lo*lo + lo*hi + hi*hi) / 3,
			MeanAbs:    abs,
			MaxAbs:     max(math.Abs(lo), math.Abs(hi)),
			Symmetric:  lo == -hi,
		},
		draw:    func(r *rand.Rand) float64 { return lo + (hi-lo)*r.Float64() },
		source:  source{family: uniformFamily, a: lo, b: hi},
		law:     &law{uniformFamily, lo, hi},
		lo:      lo,
		hi:      hi,
		between: func(a, b float64) float64 { return max(0, min(b, hi)-max(a, lo)) / (hi - lo) },
	}}
}

// Normal returns the normal distribution of mean μ and standard deviation σ. It
// panics unless μ is finite and σ positive and finite.
func Normal(μ, σ float64) Distribution {
	if !(σ > 0) || math.IsInf(σ, 0) || math.IsNaN(μ) || math.IsInf(μ, 0) {
		panic(fmt.Sprintf("bound: N(%v, %v), want a finite mean and a positive deviation", μ, σ))
	}
	z := μ / σ
	return Distribution{name: fmt.Sprintf("N(%v,%v)", μ, σ), known: &facts{
		DataMoments: DataMoments{
			Mean:       μ,
			MeanSquare: μ*μ + σ*σ,
			MeanAbs:    σ*math.Sqrt(2/math.Pi)*math.Exp(-z*z/2) + μ*math.Erf(z/math.Sqrt2),
			MaxAbs:     math.Inf(1),
			Symmetric:  μ == 0,
		},
		draw:   func(r *rand.Rand) float64 { return μ + σ*r.NormFloat64() },
		source: source{family: normalFamily, a: μ, b: σ},
		law:    &law{normalFamily, μ, σ},
		lo:     math.Inf(-1),
		hi:     math.Inf(1),
		between: func(a, b float64) float64 {
			if a < μ { // use the upper tail, which loses no digits
				a, b = 2*μ-b, 2*μ-a
			}
			return (math.Erfc((a-μ)/(σ*math.Sqrt2)) - math.Erfc((b-μ)/(σ*math.Sqrt2))) / 2
		},
	}}
}

// FromMoments returns a distribution of which only the moments are known. The
// function draw draws one number; it is nil if it is unknown how to draw them.
func FromMoments(name string, m DataMoments, draw func(*rand.Rand) float64) Distribution {
	return Distribution{name: name, known: &facts{DataMoments: m, draw: draw, lo: -m.MaxAbs, hi: m.MaxAbs}}
}

// ParseDistribution returns the distribution that s names, such as "U(-1,1)" or
// "N(0,1)". The returned error says what s must be.
func ParseDistribution(s string) (Distribution, error) {
	family, first, second, ok := splitDistribution(s)
	if !ok {
		return Distribution{}, fmt.Errorf("bound: distribution %q, want U(lo,hi) or N(mean,deviation)", s)
	}
	x, errX := strconv.ParseFloat(first, 64)
	y, errY := strconv.ParseFloat(second, 64)
	finite := errX == nil && errY == nil && !math.IsNaN(x-x) && !math.IsNaN(y-y)
	switch {
	case finite && family == "U" && x < y && !math.IsInf(y-x, 0):
		return Uniform(x, y), nil
	case finite && family == "N" && y > 0:
		return Normal(x, y), nil
	}
	return Distribution{}, fmt.Errorf("bound: distribution %q, want finite numbers, lo < hi at a finite distance, or deviation > 0", s)
}

// splitDistribution returns the parts of a name such as "U [0, 1)"; ok is false
// if it has not this form. It is no regular expression, whose package would be
// a tenth of the program in the playground's page.
func splitDistribution(s string) (family, first, second string, ok bool) {
	s = strings.Trim(s, " ")
	if len(s) < 2 || s[0] != 'U' && s[0] != 'N' {
		return "", "", "", false
	}
	inner := strings.Trim(s[1:], " ")
	if len(inner) < 2 || !strings.ContainsRune("([", rune(inner[0])) || !strings.ContainsRune(")]", rune(inner[len(inner)-1])) {
		return "", "", "", false
	}
	first, second, ok = strings.Cut(inner[1:len(inner)-1], ",")
	return s[:1], strings.Trim(first, " "), strings.Trim(second, " "), ok
}

// MomentsOf returns the distribution of an element picked at random from the
// given matrix. Bounds that treat the data as independent random numbers use
// this distribution. The returned error says that the matrix is empty, or names
// an element that is not finite.
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
	z, n := DataMoments{Mean: x[0], MeanAbs: math.Abs(x[0])}, float64(len(x))
	for _, v := range x {
		z.Mean += (v - x[0]) / n
		z.MeanAbs += (math.Abs(v) - math.Abs(x[0])) / n
		z.MaxAbs = max(z.MaxAbs, math.Abs(v))
	}
	for _, v := range x {
		z.MeanSquare += (v - z.Mean) / n * (v - z.Mean)
	}
	// Restore |E x| <= E|x| <= √E x² <= max |x|, which rounding may have violated.
	z.MeanSquare = min(z.MeanSquare+z.Mean*z.Mean, z.MaxAbs*z.MaxAbs)
	z.MeanAbs = min(max(z.MeanAbs, math.Abs(z.Mean)), math.Sqrt(z.MeanSquare))
	return Distribution{name: name, known: &facts{
		DataMoments: z,
		draw:        func(r *rand.Rand) float64 { return x[r.IntN(len(x))] },
		source:      source{id: new(int)},
		lo:          slices.Min(x),
		hi:          slices.Max(x),
		elements:    x,
	}}, nil
}

// of returns what is known of the distribution. The caller must not change it.
func (d Distribution) of() *facts {
	if d.known == nil {
		return &unknown
	}
	return d.known
}

var unknown facts

// String returns the name, as in "U(-1,1)".
func (d Distribution) String() string { return d.name }

// Named returns the distribution under another name.
func (d Distribution) Named(name string) Distribution {
	d.name = name
	return d
}

// Moments returns all moments at once.
func (d Distribution) Moments() DataMoments { return d.of().DataMoments }

// Mean returns E x.
func (d Distribution) Mean() float64 { return d.of().Mean }

// Variance returns Var x.
func (d Distribution) Variance() float64 { return d.of().variance() }

// StdDev returns the standard deviation of x.
func (d Distribution) StdDev() float64 { return math.Sqrt(d.Variance()) }

// MeanSquare returns E x².
func (d Distribution) MeanSquare() float64 { return d.of().MeanSquare }

// MeanAbs returns E|x|.
func (d Distribution) MeanAbs() float64 { return d.of().MeanAbs }

// MaxAbs returns an upper bound of |x|, +Inf if there is none.
func (d Distribution) MaxAbs() float64 { return d.of().MaxAbs }

// Symmetric reports whether x and -x are known to be equally likely.
func (d Distribution) Symmetric() bool { return d.of().Symmetric }

// Largest returns an upper bound of the sizes of n numbers that fails with
// probability at most e^f. It is +Inf if x is unbounded and the tails of its
// distribution are unknown. If x is unbounded, it may panic unless n >= 1 and
// -Inf < f < 0.
func (d Distribution) Largest(n float64, f roundoff.Failure) float64 {
	o := d.of()
	switch {
	case o.family == normalFamily:
		return math.Abs(o.Mean) + math.Sqrt(o.variance())*roundoff.Azuma(1, f.Split(n))
	case math.IsInf(o.MaxAbs, 1) && o.beyond != nil:
		return o.quantile(math.Exp(float64(f.Split(n))))
	}
	return o.MaxAbs
}

// CanDraw reports whether it is known how to draw numbers.
func (d Distribution) CanDraw() bool { return d.of().draw != nil }

// Rand returns a number drawn from Src. It panics unless
// [Distribution.CanDraw].
func (d Distribution) Rand() float64 {
	draw := d.of().draw
	if draw == nil {
		panic(fmt.Sprintf("bound: distribution %q cannot be drawn from", d))
	}
	switch src := d.Src.(type) {
	case nil:
		return draw(global)
	case *rand.Rand:
		return draw(src)
	default:
		return draw(rand.New(src))
	}
}

// draw stores numbers drawn with r in x.
func (d Distribution) draw(x []float64, r *rand.Rand) {
	draw := d.of().draw
	for i := range x {
		x[i] = draw(r)
	}
}

// global is the generator of math/rand/v2, which is safe for concurrent use.
var global = rand.New(globalSource{})

type globalSource struct{}

func (globalSource) Uint64() uint64 { return rand.Uint64() }

// from returns the distribution with r as its generator.
func (d Distribution) from(r *rand.Rand) Distribution {
	d.Src = r
	return d
}

// told reports whether the moments are known.
func (d Distribution) told() bool {
	o := d.of()
	return o.MaxAbs != 0 || o.MeanSquare != 0 || o.MeanAbs != 0 || o.Mean != 0
}

// Check returns an error if no random number has these moments.
func (d Distribution) Check() error {
	const ε = 1e-12 // allowance for rounding errors of the moments
	m := d.Moments()
	switch variance := m.MeanSquare - m.Mean*m.Mean; {
	case !(m.MeanSquare >= 0) || math.IsInf(m.MeanSquare, 1):
		return fmt.Errorf("bound: %s: mean square %v, want it finite and not negative", d, m.MeanSquare)
	case !(variance >= -ε*m.MeanSquare):
		return fmt.Errorf("bound: %s: variance %v, want it not negative", d, variance)
	case !(m.MeanAbs >= math.Abs(m.Mean)*(1-ε)):
		return fmt.Errorf("bound: %s: E|x| = %v, want at least |E x| = %v", d, m.MeanAbs, math.Abs(m.Mean))
	case !(m.MeanAbs*m.MeanAbs <= m.MeanSquare*(1+ε)):
		return fmt.Errorf("bound: %s: E|x| = %v, want at most √E x² = %v", d, m.MeanAbs, math.Sqrt(m.MeanSquare))
	case !(m.MaxAbs*m.MaxAbs >= m.MeanSquare*(1-ε)):
		return fmt.Errorf("bound: %s: greatest |x| is %v, below √E x² = %v", d, m.MaxAbs, math.Sqrt(m.MeanSquare))
	}
	return nil
}
