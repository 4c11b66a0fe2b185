package quantisation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/argument"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

const check = argument.Package("quantisation")

// A Law is the distribution of the elements of a matrix.
type Law struct {
	Name    string
	Density func(x float64) float64 // up to a constant factor, in between the Knots

	// Knots are in ascending order. Between neighbours the density is as smooth
	// as a polynomial of low degree; before the first and after the last one
	// there are no numbers.
	Knots []float64

	// Interval returns an interval that contains x except with probability at
	// most e^f, f < 0. It is nil if the last and the first knot are the bounds
	// of x.
	Interval func(f roundoff.Failure) (lo, hi float64)

	even bool // whether the density of -x is known to be that of x
}

// Uniform returns the uniform law on [lo, hi]. It panics unless lo < hi and
// hi - lo is finite.
func Uniform(lo, hi float64) Law {
	check.Positive("hi - lo", hi-lo)
	return Law{Name: fmt.Sprintf("U(%g,%g)", lo, hi), Density: func(float64) float64 { return 1 }, Knots: []float64{lo, hi}, even: lo == -hi}
}

// Normal returns the normal law of mean μ and standard deviation σ, with
// P(|x - μ| > sσ) <= exp(-s²/2). It panics unless μ is finite and σ is positive
// and finite.
func Normal(μ, σ float64) Law {
	return spread("N", μ, σ, 1, 40, func(s float64) float64 { return math.Exp(-s * s / 2) },
		func(f roundoff.Failure) float64 { return math.Sqrt(-2 * float64(f)) })
}

// Laplace returns the law of density exp(-|x - μ| / b) / 2b. It panics unless μ
// is finite and b is positive and finite.
func Laplace(μ, b float64) Law {
	return spread("Laplace", μ, b, 4, 740, func(s float64) float64 { return math.Exp(-math.Abs(s)) },
		func(f roundoff.Failure) float64 { return -float64(f) })
}

// spread returns the law of x = μ + σs, where s is symmetric, has the density
// and is beyond ±quantile(f) with probability at most e^f. Its knots are step
// apart in s, up to ±reach, beyond which the probability is below 10^-300.
func spread(name string, μ, σ, step, reach float64, density func(s float64) float64, quantile func(f roundoff.Failure) float64) Law {
	check.Number("μ", μ, math.Abs(μ) <= math.MaxFloat64, "a finite number")
	check.Positive("σ", σ)
	l := Law{Name: fmt.Sprintf("%s(%g,%g)", name, μ, σ), Density: func(x float64) float64 { return density((x - μ) / σ) }, even: μ == 0}
	for s := -reach; s <= reach; s += step {
		l.Knots = append(l.Knots, μ+float64(σ*s))
	}
	l.Interval = func(f roundoff.Failure) (lo, hi float64) {
		return μ - float64(σ*quantile(f)), μ + float64(σ*quantile(f))
	}
	return l
}

// Truncated returns the law of x given that lo <= x <= hi. It panics unless
// numbers of the law can lie there.
func (l Law) Truncated(lo, hi float64) Law {
	first, last := l.bounds()
	lo, hi = max(lo, first), min(hi, last)
	check.Number("hi", hi, lo < hi, "an interval where the law has numbers")
	knots := []float64{lo}
	for _, x := range l.Knots {
		if lo < x && x < hi {
			knots = append(knots, x)
		}
	}
	l.Knots, l.Interval, l.even = append(knots, hi), nil, l.even && lo == -hi
	return l
}

// bounds returns the first and the last knot.
func (l Law) bounds() (lo, hi float64) {
	check.Count("len(Knots) - 1", len(l.Knots)-1)
	return l.Knots[0], l.Knots[len(l.Knots)-1]
}
