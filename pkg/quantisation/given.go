package quantisation

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// Given is a product of an M × K matrix of a law by a K × N matrix that is
// known, as trained weights are: B and what it was rounded to, B̂.
type Given struct {
	A       Factor
	M       int
	B, BHat blas64.General
}

// Errors returns bounds for the columns of the product, which all MN errors
// keep except with probability e^f: Chernoff's, of
//
//	K(t) = Σ_k log E exp(t(âb̂_k - ab_k))
//
// for each side of each element, where b_k and b̂_k are the elements of a
// column. Blocks of A with a scale have sums of products over their elements in
// place of powers. The Mean of a column is known exactly, drift included. An
// unbounded law is cut as by Product.Errors. Errors panics unless M is
// positive, B and B̂ have one shape and finite elements, K is a multiple of the
// length of blocks and -Inf < f < 0, and if A is none or has a scale of the
// tensor besides those of blocks.
//
// Source: derived here; see the package comment.
func (p Given) Errors(f roundoff.Failure) []Errors {
	check.Count("M", p.M)
	check.Number("f", float64(f), f < 0 && float64(f) >= -math.MaxFloat64, "-Inf < f < 0")
	K, N := p.B.Rows, p.B.Cols
	check.Count("B.Rows", K)
	check.Count("B.Cols", N)
	if p.BHat.Rows != K || p.BHat.Cols != N {
		panic(fmt.Sprintf("quantisation: B̂ is %d × %d, want %d × %d as B", p.BHat.Rows, p.BHat.Cols, K, N))
	}
	p.A.check("A")
	check.Number("A.Tensor", p.A.Tensor, p.A.Tensor == 0, "0: a scale of the tensor is for two laws")
	share := 1.0
	if cut := p.A.Law.Interval; cut != nil {
		p.A.Law = p.A.Law.Truncated(cut(f.Split(16).Split(float64(p.M) * float64(K))))
		share -= 1. / 16
	}
	each := f.Split(1 / share).Split(2 * float64(p.M) * float64(N))
	p.A = p.A.of(K, p.M)
	length := p.A.block()
	check.Number("B.Rows", float64(K), K%length == 0, "a multiple of the length of blocks")
	t := p.A.classes(length, rare)
	parts := t.parts(func(x *class) {
		x.fill(nil, last(t.size), last(t.err))
		x.all, x.low, x.top = x.all.split(1, 1), x.low.split(1, 1), x.top.split(1, 1)
	})
	b, bhat := columns("B", p.B), columns("B̂", p.BHat)
	slack := 0.0
	if p.A.Aim != 0 {
		slack = p.A.slack() * p.A.Law.size()
	}
	list := make([]Errors, N)
	parallel.Each(N, func(j int) {
		list[j] = t.column(parts, length, b[j], bhat[j], each)
		for _, x := range b[j] {
			list[j].Below += slack * math.Abs(x)
			list[j].Above += slack * math.Abs(x)
		}
	})
	return list
}

// columns returns the columns of a matrix.
func columns(name string, m blas64.General) [][]float64 {
	list := make([][]float64, m.Cols)
	for j := range list {
		list[j] = make([]float64, m.Rows)
		for k := range list[j] {
			x := m.Data[k*m.Stride+j]
			check.Number(name, x, math.Abs(x) <= math.MaxFloat64, "finite numbers")
			list[j][k] = x
		}
	}
	return list
}

// column returns the bounds for one column, from the parts of the classes of A.
func (t table) column(parts []part, length int, b, bhat []float64, f roundoff.Failure) Errors {
	unit := 0.0
	for k := range b {
		unit = max(unit, float64(last(t.size)*math.Abs(bhat[k]-b[k]))+last(t.err)*math.Abs(bhat[k]+b[k])/2)
	}
	if unit == 0 {
		return Errors{} // a column of zeros
	}
	s := walk{most: degree / 2}
	body, apex := make([][]*series, len(parts)), make([][]*series, len(parts))
	for i, x := range parts {
		for k := range b {
			α, β := last(t.size)*(bhat[k]-b[k])/unit, last(t.err)*(bhat[k]+b[k])/2/unit
			body[i] = append(body[i], x.body[0].at(α, β))
			s.most = min(s.most, body[i][k].most())
			if x.crown > 0 {
				apex[i] = append(apex[i], x.apex[0].at(α, β))
				s.most = min(s.most, apex[i][k].most())
			}
		}
	}
	// raw returns K(t) of all blocks, with mean.
	raw := func(τ float64) jet {
		var total jet
		n := max(terms(τ), len(total))
		for k := 0; k < len(b); k += length {
			var block jet
			for i, x := range parts {
				all, crowned := product(body[i], apex[i], k, k+length, τ, n)
				block = block.plus(x.share, all).plus(x.crown, crowned)
			}
			total = total.plus(1, block.log(block[0]-1))
		}
		return total
	}
	zero := raw(0)
	s.jet = func(τ float64) jet {
		k := raw(τ)
		k[0] -= zero[0] + float64(τ*zero[1])
		k[1] -= zero[1]
		return k
	}
	below, _ := s.chernoff(f, true)
	above, _ := s.chernoff(f, false)
	return Errors{Mean: zero[1] * unit, Deviation: math.Sqrt(2*zero[2]) * unit, Below: below * unit, Above: above * unit}
}

// product returns the jet at t of the product of the elements of body from
// one to another, of n+1 terms of each series, and the sum of those that have
// an element of apex in place of one of body, 0 without apex.
func product(body, apex []*series, from, to int, t float64, n int) (all, crowned jet) {
	all = jet{1}
	for k := from; k < to; k++ {
		s := body[k].at(t, n)
		if apex != nil {
			crowned = crowned.times(s).plus(1, all.times(apex[k].at(t, n)))
		}
		all = all.times(s)
	}
	return all, crowned
}
