package sweep

import (
	"fmt"
	"strings"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/exact"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Integers multiplies what recipes of integers make: sums in int32 are exact,
// on whatever unit. It is a machine for plans with recipes alone.
var Integers = tcore.Machine{Name: "int32", Device: tcore.Device{Name: "int32", A: quant.Int8, B: quant.Int8, C: tcore.Binary32}}

// FindRecipes returns the recipes of a name: that of a recipe of
// [quant.Recipes] for both factors, or one for A and one for B with a colon
// between. The error names the recipe that there is not.
func FindRecipes(name string) (r bound.Recipes, err error) {
	a, b, two := strings.Cut(name, ":")
	if !two {
		b = a
	}
	if r.A, err = quant.Named(a); err == nil {
		r.B, err = quant.Named(b)
	}
	if err != nil {
		return bound.Recipes{}, fmt.Errorf("sweep: %w, see roundoff quantise", err)
	}
	return r, nil
}

// NameRecipes returns the name of recipes that FindRecipes reads.
func NameRecipes(r bound.Recipes) string {
	if r.A.Name == r.B.Name {
		return r.A.Name
	}
	return r.A.Name + ":" + r.B.Name
}

// quantisedUnits returns the machines of a plan with recipes, each with every
// recipe that it takes. Sums that leave the device for their scales are those
// of a machine that promotes. An error says what of the plan is not for
// recipes, or that no machine takes any.
func (p Plan) quantisedUnits() (all []unit, err error) {
	if len(p.Orders) > 0 {
		return nil, fmt.Errorf("sweep: plan %q with recipes, want machines alone", p.Orders[0].Name)
	}
	if p.PerOutput {
		return nil, fmt.Errorf("sweep: PerOutput with recipes, want the confidence of all outputs, which have scales in common")
	}
	for _, t := range p.Told {
		if t != FromDistribution && t != FromMatrices {
			return nil, fmt.Errorf("sweep: told %v with recipes, want %v or %v", t, FromDistribution, FromMatrices)
		}
	}
	seen := map[string]bool{}
	for _, r := range p.Recipes {
		name := NameRecipes(r)
		if seen[name] {
			return nil, fmt.Errorf("sweep: recipe %q twice", name)
		}
		seen[name] = true
	}
	for _, m := range p.Machines {
		if m.SplitK > 1 || m.Order != tcore.InSequence || m.Stochastic.Bits > 0 {
			return nil, fmt.Errorf("sweep: machine %q with recipes, want a device, with Promote and Output at most", m.Name)
		}
		for i := range p.Recipes {
			r := &p.Recipes[i]
			k, takes := quant.KernelOn(m.Device, r.A, r.B, m.Promote)
			every := max(k.Every, k.Machine.Promote)
			if !takes || m.Promote > 0 && every != m.Promote {
				continue
			}
			k.Machine.Output = m.Output
			u := unit{Problem: bound.Problem{Machine: m, Recipes: r}, recipe: NameRecipes(*r), kernel: &k}
			u.Promote = every
			if m.Device.Core == nil { // only what quantisation loses is bounded
				u.Device.C, u.Device.Core = tcore.Binary64, tcore.Chain{}
			}
			if u.Machine.Check() == nil { // or parts end within a block of the device
				all = append(all, u)
			}
		}
	}
	if all == nil {
		return nil, fmt.Errorf("sweep: none of %d machines takes what one of %d recipes makes, want such a pair", len(p.Machines), len(p.Recipes))
	}
	return all, nil
}

// A quantisedFound is what recipes make of the matrices of a draw.
type quantisedFound struct {
	a, b  *quant.Quantised
	exact exact.Matrix // ÂB̂
	lost  []float64    // ÂB̂ - AB, row by row
	err   error
}

// quantise returns what recipes make of the matrices, which is found once.
func (d *draw) quantise(r *bound.Recipes) quantisedFound {
	d.mu.Lock()
	find, ok := d.quantised[r]
	if !ok {
		find = sync.OnceValue(func() (z quantisedFound) {
			z.err = z.find(r, d)
			return z
		})
		d.quantised[r] = find
	}
	d.mu.Unlock()
	return find()
}

func (z *quantisedFound) find(r *bound.Recipes, d *draw) (err error) {
	originals := d.exactly(tcore.Device{}, true)
	if originals.err != nil {
		return originals.err
	}
	if z.a, err = r.A.Quantise(d.a, quant.Left); err != nil {
		return err
	}
	if z.b, err = r.B.Quantise(d.b, quant.Right); err != nil {
		return err
	}
	if z.exact, err = exactly64(z.a.Values(), z.b.Values()); err != nil {
		return err
	}
	z.lost = originals.Compare(z.exact.Float64()).Errors
	return nil
}

// exactly64 returns the exact product of matrices in binary64 whose elements
// are sums of two numbers of binary32: x = h + l and y = g + m, so that xy =
// hg + hm + lg + lm. The error names an element that is no such sum.
func exactly64(a, b blas64.General) (exact.Matrix, error) {
	h, l, err := halves("A", a)
	if err != nil {
		return exact.Matrix{}, err
	}
	g, m, err := halves("B", b)
	if err != nil {
		return exact.Matrix{}, err
	}
	x, y := matrix.New(a.Rows, 4*a.Cols), matrix.New(4*b.Rows, b.Cols)
	for i, from := range []blas32.General{h, h, l, l} {
		for r := range a.Rows {
			copy(matrix.Row(x, r)[i*a.Cols:], matrix.Row(from, r))
		}
	}
	for i, from := range []blas32.General{g, m, g, m} {
		copy(y.Data[i*len(from.Data):], from.Data)
	}
	return exact.GEMM(x, y)
}

// halves returns matrices of binary32 whose sum is x.
func halves(name string, x blas64.General) (high, low blas32.General, err error) {
	high, low = matrix.New(x.Rows, x.Cols), matrix.New(x.Rows, x.Cols)
	for i, v := range x.Data {
		high.Data[i] = float32(v)
		low.Data[i] = float32(v - float64(high.Data[i]))
		if float64(high.Data[i])+float64(low.Data[i]) != v {
			return high, low, fmt.Errorf("an element of %s is quantised to %v, which is beyond two numbers of binary32", name, v)
		}
	}
	return high, low, nil
}

// given returns the matrices of the draw as the bounds are given them. Those
// for different recipes are apart, so that none waits for another.
func (d *draw) given(r *bound.Recipes) *bound.Given {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.matrices[r] == nil {
		d.matrices[r] = &bound.Given{A: matrix.Float64(d.a), B: matrix.Float64(d.b)}
	}
	return d.matrices[r]
}

// runQuantised quantises A and B, computes the product of what they have become
// by the kernel and exactly, and sets errors, lost and sizes. It returns the
// exact values of AB, or the reason if there is no product to judge.
func (z *product) runQuantised() (values []float64, why string) {
	found := z.quantise(z.Recipes)
	if found.err != nil {
		return nil, strings.TrimPrefix(found.err.Error(), "quant: ")
	}
	d, err := z.kernel.Multiply(found.a, found.b)
	if err != nil {
		return nil, strings.TrimPrefix(err.Error(), "quant: ")
	}
	originals := z.exactly(z.Device, true)
	z.errors, z.lost, z.sizes = originals.Compare(matrix.Float64(d)).Errors, found.lost, originals.Sizes()
	z.accumulated = found.exact.Error(d).Data
	return originals.Values, ""
}

// components returns the parts of the errors that are judged; nothing without
// recipes.
func (z *product) components() (quantised, accumulated Component) {
	for i, lost := range z.lost {
		if e := z.errors[i]; e == e {
			quantised = quantised.Merge(componentOf(lost, z.sizes[i]))
			accumulated = accumulated.Merge(componentOf(z.accumulated[i], z.sizes[i]))
		}
	}
	return quantised, accumulated
}

// QuantisationRow is the Bound of rows of what bounds what recipes lose, ÂB̂ -
// AB, alone: the Conversion of the [bound.Parts] of every bound on the whole.
const QuantisationRow = "quantisation"

// quantisedFirst returns the questions about a product whose factors recipes
// have made, of one description and confidence, after one whether what the
// recipes lose is within its bound. That is as certain as the most certain
// result that contains it. Of sums of integers, which are of no device, there
// is that one alone.
func (z *product) quantisedFirst(all []question) []question {
	first := question{Bound: bound.Bound{Name: QuantisationRow}}
	for _, q := range all {
		if q.Holds && (!first.Holds || q.Result.Confidence < first.Result.Confidence) {
			q.Bound = first.Bound
			q.Result.Constant, q.Underflow = q.Parts.Conversion, 0
			first = q
		}
	}
	if z.kernel.Machine.Device.Core == nil {
		all = nil
	}
	if !first.Holds {
		return all
	}
	return append([]question{first}, all...)
}
