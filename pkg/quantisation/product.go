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
// Cumulant.Tilted at e^f / 2MN for each side of each element. For an unbounded
// law they follow from the law cut to the interval that contains all elements
// of the matrix except with probability e^f / 16, and so do Mean and Deviation.
// Errors panics unless M, K and N are positive, K is a multiple of the length
// of blocks and -Inf < f < 0, and if a factor is none.
//
// Source: derived here; see the package comment.
func (p Product) Errors(f roundoff.Failure) Errors {
	return p.errors(f, (*Cumulant).Tilted)
}

func (p Product) errors(f roundoff.Failure, tail func(*Cumulant, int, roundoff.Failure, bool) float64) Errors {
	check.Count("M", p.M)
	check.Count("K", p.K)
	check.Count("N", p.N)
	check.Number("f", float64(f), f < 0 && float64(f) >= -math.MaxFloat64, "-Inf < f < 0")
	share := 1.0
	for _, x := range []struct {
		law   *Law
		count float64
	}{{&p.A.Law, float64(p.M) * float64(p.K)}, {&p.B.Law, float64(p.K) * float64(p.N)}} {
		law, cut := x.law.inside(x.count, f.Split(16))
		if *x.law = law; cut {
			share -= 1. / 16
		}
	}
	c := NewCumulant(p.A, p.B)
	each := f.Split(1 / share).Split(2 * float64(p.M) * float64(p.N))
	return Errors{
		Mean:      float64(p.K) * c.Mean(),
		Deviation: math.Sqrt(float64(p.K) * c.Variance()),
		Below:     tail(c, p.K, each, true),
		Above:     tail(c, p.K, each, false),
	}
}
