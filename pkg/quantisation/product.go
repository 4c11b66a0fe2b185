package quantisation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Product is a product of an M × K by a K × N matrix with factors A and B.
type Product struct {
	A, B    Factor
	M, K, N int
}

// Errors are bounds on the error E of all elements of a product: they are
// between Mean - Below and Mean + Above.
type Errors struct {
	Mean, Deviation float64 // Kμ, the drift, and the standard deviation of one element
	Below, Above    float64
}

// Size returns a bound on |E|.
func (e Errors) Size() float64 { return max(e.Below-e.Mean, e.Above+e.Mean) }

// Errors returns bounds that all MN errors keep except with probability e^f, by
// Cumulant.Tightest for each side of each element, which together have what
// cuts of unbounded laws leave of e^f. One unbounded law is cut to the interval
// that contains all elements of its matrix except with probability e^f / 16. Of
// two, pairs of numbers of A and B that are both extreme are cut, such that
// none of them meet except with probability e^f / 8, or, if a factor has a
// scale of the tensor, both laws to such intervals. Mean and Deviation are of
// what is left. Errors panics unless M, K and N are positive, K is a multiple
// of the length of blocks and -Inf < f < 0, and if a factor is none.
//
// Source: derived here; see the package comment.
func (p Product) Errors(f roundoff.Failure) Errors { return p.ErrorsOf(p.Cumulant(f), f) }

// Cumulant returns that from which Errors finds its bounds, of the laws as they
// are cut there. It depends on K through Reach alone, and panics as Errors
// does. If a factor has a scale of the tensor besides those of blocks, it is
// that of a whole element of E.
func (p Product) Cumulant(f roundoff.Failure) *Cumulant {
	p.check(f)
	cut, _ := p.cut(f)
	if cut.A.Tensor != 0 || cut.B.Tensor != 0 {
		return cut.givenAmax()
	}
	return NewCumulant(cut.A, cut.B)
}

// ErrorsOf returns the Errors, of which c is the Cumulant. It panics as Errors
// does.
func (p Product) ErrorsOf(c *Cumulant, f roundoff.Failure) Errors {
	p.check(f)
	_, share := p.cut(f)
	K, each := float64(p.K), f.Split(1/share).Split(2*float64(p.M)*float64(p.N))
	e := Errors{
		Mean:      K * c.Mean(),
		Deviation: math.Sqrt(K * c.Variance()),
		Above:     c.Tightest(p.K, each, false),
	}
	// With the numbers of one factor E changes its sign: scales know their sizes,
	// and rounding to nearest is odd.
	if e.Below = e.Above; !p.A.Law.even && !p.B.Law.even {
		e.Below = c.Tightest(p.K, each, true)
	}
	return e
}

// Reach returns the number of products of one element as which K counts in cuts
// of unbounded laws, K or more: the next power of 16, so that products of many
// lengths have the same Cumulant. It is K where whole rows, columns or matrices
// have a scale, which depends on it.
func (p Product) Reach() int {
	if p.A.Length == All || p.B.Length == All || p.A.Tensor != 0 || p.B.Tensor != 0 {
		return p.K
	}
	n := 1
	for n < p.K && n <= math.MaxInt/16 {
		n *= 16
	}
	return max(n, p.K)
}

func (p Product) check(f roundoff.Failure) {
	check.Count("M", p.M)
	check.Count("K", p.K)
	check.Count("N", p.N)
	check.Number("f", float64(f), f < 0 && float64(f) >= -math.MaxFloat64, "-Inf < f < 0")
}

// cut returns the product with factors of bounded laws, and the part of e^f
// that this leaves.
func (p Product) cut(f roundoff.Failure) (cut Product, share float64) {
	M, K, N := float64(p.M), float64(p.Reach()), float64(p.N)
	p.A, p.B = p.A.of(p.K, p.M), p.B.of(p.K, p.N)
	switch a, b := p.A.Law.Interval, p.B.Law.Interval; {
	case a != nil && b != nil && (p.A.Tensor != 0 || p.B.Tensor != 0):
		p.A.Law = p.A.Law.Truncated(a(f.Split(16).Split(M * K)))
		p.B.Law = p.B.Law.Truncated(b(f.Split(16).Split(K * N)))
		return p, 1 - 1./8
	case a != nil && b != nil:
		p.A.shells, p.B.shells = staircase(a, b, f.Split(8).Split(M*K*N), p.steps())
		p.A.Law, p.B.Law = p.A.cut(), p.B.cut()
		return p, 1 - 1./8
	case a != nil:
		p.A.Law = p.A.Law.Truncated(a(f.Split(16).Split(M * K)))
		return p, 1 - 1./16
	case b != nil:
		p.B.Law = p.B.Law.Truncated(b(f.Split(16).Split(K * N)))
		return p, 1 - 1./16
	}
	return p, 1
}

// steps is the number of intervals of a staircase, and continuousSteps where
// each is also a discontinuity of an integral over amax, which takes time.
const steps, continuousSteps = 12, 4

func (p Product) steps() int {
	if p.A.Aim != 0 || p.B.Aim != 0 {
		return continuousSteps
	}
	return steps
}

// staircase returns nested intervals I_1 … I_steps of a, and J of b, such that
// except with probability e^f a is in I_i and b in J_j for some
// i + j = steps + 1. A number leaves I_i with probability e^(is) at most.
// A pair that is out of all these rectangles has left I_i and J_j for some
// i + j = steps, where all have left I_0, and so with probability
// (steps + 1) e^(steps s) at most.
func staircase(a, b func(roundoff.Failure) (lo, hi float64), f roundoff.Failure, steps int) (as, bs [][2]float64) {
	s := f.Split(float64(steps+1)) / roundoff.Failure(steps)
	for i := range steps {
		lo, hi := a(roundoff.Failure(i+1) * s)
		as = append(as, [2]float64{lo, hi})
		lo, hi = b(roundoff.Failure(i+1) * s)
		bs = append(bs, [2]float64{lo, hi})
	}
	return as, bs
}

// cut returns the law in the last interval.
func (x Factor) cut() Law {
	last := x.shells[len(x.shells)-1]
	return x.Law.Truncated(last[0], last[1])
}
