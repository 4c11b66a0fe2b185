package quantisation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Result is what one bound says of a problem: no |E_ij| exceeds Absolute.
// What does not hold may have an Absolute as well: a model or a prediction.
type Result struct {
	Bound      string
	Needs      Knowledge        // what the bound has to know
	Absolute   float64          // the largest over all outputs; NaN if unknown
	Relative   float64          // Absolute over the mean of |A||B| over all outputs, of which the laws tell the expectation
	Ratio      float64          // Absolute over the largest |E_ij|; NaN unless A and B are known
	Confidence roundoff.Failure // of all outputs together
	Holds      bool             // whether it is a bound, of factors as assumed
	Why        string           // what it assumes, or why it does not hold
	Source     string
}

// Evaluate returns the result of every bound of the catalogue for a problem,
// with confidence 1 - e^f for all outputs together. With stochastic rounding
// the largest |E_ij|, by which Ratio divides, is that of one draw.
//
// A bound that assumes independent elements of a law is refused if the matrix
// is known and has another distribution, or if A and B are known and Suspect;
// any bound is refused that the error of known matrices exceeds. The returned
// error names an element that is not finite or cannot be rounded. Evaluate
// panics if a size is below 1, a matrix has another shape or fewer elements, or
// unless -Inf < f < 0.
func Evaluate(p Problem, f roundoff.Failure) ([]Result, error) {
	p.check(f)
	k, err := p.rounded()
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(catalogue))
	for i, b := range catalogue {
		results[i] = b.result(k, f)
	}
	return results, nil
}

// result returns the result of one bound.
func (b Bound) result(k *evaluation, f roundoff.Failure) Result {
	r := Result{Bound: b.Name, Needs: b.Needs, Absolute: math.NaN(), Relative: math.NaN(), Ratio: math.NaN(), Confidence: roundoff.Never, Source: b.Source}
	if b.Random {
		r.Confidence = f
	}
	if missing := b.Needs &^ k.Knows(); missing != 0 {
		r.Why = fmt.Sprintf("needs %v", missing)
		return r
	}
	x, err := b.limit(k, f)
	if err != nil {
		r.Why = "refused: " + strings.TrimPrefix(err.Error(), "quantisation: ")
		return r
	}
	r.Absolute, r.Relative, r.Ratio = x, x/k.size, x/k.largest
	fails := ""
	if b.Fails != nil {
		fails = b.Fails(k.Problem)
	}
	suspicion := k.suspicion(b)
	switch {
	case fails != "" && k.a != nil && k.b != nil && k.Suspect != "":
		r.Why = fails + ", and of these factors " + k.Suspect
	case fails != "":
		r.Why = fails
	case suspicion != "":
		r.Why = "refused: " + suspicion
	case r.Ratio < 1:
		r.Why = fmt.Sprintf("exceeded by the error of these matrices: what it assumes, %s, is false, or they are among those outside of %v", b.Assumes, f)
	default:
		r.Holds, r.Why = true, b.Assumes
	}
	return r
}

// suspicion returns why known matrices do not look like the independent
// elements of laws that a bound assumes, "" if nothing speaks against it.
func (k *evaluation) suspicion(b Bound) string {
	switch {
	case b.Needs&LawOfA != 0 && k.misfitA != "":
		return k.misfitA
	case b.Needs&LawOfB != 0 && k.misfitB != "":
		return k.misfitB
	case b.Needs&(LawOfA|LawOfB) != 0 && k.a != nil && k.b != nil:
		return k.Suspect
	}
	return ""
}

// An evaluation is a problem with what its matrices are rounded to.
type evaluation struct {
	Problem
	a, b, rows *rounded // nil if unknown

	misfitA, misfitB string // why a matrix is not of its law, "" if that is not known

	product KnownProduct // if A and B are known
	largest float64      // |E_ij|, then; NaN otherwise
	size    float64      // the mean of |A||B|; NaN if unknown
}

// rounded rounds the matrices of a problem.
func (p Problem) rounded() (k *evaluation, err error) {
	k = &evaluation{Problem: p, largest: math.NaN()}
	if p.A.Rows > 0 {
		if k.a, err = p.RoundA.round("A", p.A, quant.Left); err != nil {
			return nil, err
		}
	}
	if p.B.Rows > 0 {
		if k.b, err = p.RoundB.round("B", p.B, quant.Right); err != nil {
			return nil, err
		}
	}
	if p.Rows.Rows > 0 {
		if k.rows, err = p.RoundA.round("Rows", p.Rows, quant.Left); err != nil {
			return nil, err
		}
	}
	if k.a != nil && k.b != nil {
		if k.product, err = Known(k.a.x, k.b.x, k.a.hat, k.b.hat); err != nil {
			return nil, err
		}
		k.largest = most(k.product.Error())
	}
	if k.a != nil && k.LawA.Density != nil {
		k.misfitA = misfit("A", k.a.x, k.LawA)
	}
	if k.b != nil && k.LawB.Density != nil {
		k.misfitB = misfit("B", k.b.x, k.LawB)
	}
	k.size = k.meanSize()
	return k, nil
}

// meanSize returns the mean of |A||B|, Σ_k α_k β_k, where α_k is the mean size
// of the elements of column k of A, and β_k that of row k of B.
func (k *evaluation) meanSize() float64 {
	a := k.a
	if a == nil && k.LawA.Density == nil {
		a = k.rows
	}
	switch α, β := columnSizes(a), rowSizes(k.b); {
	case α != nil && β != nil:
		sum := 0.0
		for i, x := range α {
			sum += float64(x * β[i])
		}
		return sum
	case α != nil:
		return sum(α) * k.LawB.meanSize()
	case β != nil:
		return k.LawA.meanSize() * sum(β)
	}
	return float64(k.K) * k.LawA.meanSize() * k.LawB.meanSize()
}

// columnSizes returns the mean size of the elements of each column, nil without
// a matrix.
func columnSizes(z *rounded) []float64 {
	if z == nil {
		return nil
	}
	means := make([]float64, z.x.Cols)
	for at, v := range z.x.Data {
		means[at%z.x.Cols] += math.Abs(v) / float64(z.x.Rows)
	}
	return means
}

// rowSizes returns the mean size of the elements of each row, nil without a
// matrix.
func rowSizes(z *rounded) []float64 {
	if z == nil {
		return nil
	}
	means := make([]float64, z.x.Rows)
	for at, v := range z.x.Data {
		means[at/z.x.Cols] += math.Abs(v) / float64(z.x.Cols)
	}
	return means
}

func sum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// meanSize returns E|x|, NaN for no law.
func (l Law) meanSize() float64 {
	if l.Density == nil {
		return math.NaN()
	}
	mass, size := 0.0, 0.0
	lo, hi := l.bounds()
	ends := append(slices.Clone(l.Knots), max(lo, min(0, hi)))
	slices.Sort(ends)
	for i, to := range ends[1:] {
		mid, half := (ends[i]+to)/2, (to-ends[i])/2
		for j, g := range gaussX {
			x := mid + float64(half*g)
			w := half * gaussW[j] * l.Density(x)
			mass += w
			size += float64(w * math.Abs(x))
		}
	}
	return size / mass
}

// most returns the largest magnitude of an element.
func most(m blas64.General) float64 {
	z := 0.0
	for _, x := range m.Data {
		z = max(z, math.Abs(x))
	}
	return z
}
