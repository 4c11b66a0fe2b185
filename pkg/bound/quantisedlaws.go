package bound

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// quantisedLaws returns what is known of the quantised factors if these are
// independent numbers of known densities, with probability at least 1 - e^f.
//
// ÂB̂ - AB is that of package quantisation. An element x̂ = s fl(x/s) is at
// most (1+u)|x| plus half the least number of the format times s, and at most
// 2|x| as 0 is a number of the format. That bounds |Â||B̂|, with s no greater
// than the scale of the greatest element. The roundings of s and of x/s in
// binary32 are in 1+ε. Scales of whole rows or matrices, which the device does
// not take, multiply its sums. Besides scales of blocks, one of the tensor is
// at most that of the largest element, and those of blocks are at most their
// greatest number.
func (k Problem) quantisedLaws(f roundoff.Failure) quantisedProduct {
	x, y := k.X.of().law, k.Y.of().law
	switch {
	case k.Data != nil || x == nil || y == nil || !x.wide() || !y.wide():
		return quantisedProduct{why: "needs the matrices, or densities of independent factors: a factor far below the greatest of its block is lost"}
	case k.Recipes.A.Block.Along != k.Recipes.B.Block.Along:
		return quantisedProduct{why: fmt.Sprintf("blocks %v and %v, want the same length along K", k.Recipes.A.Block, k.Recipes.B.Block)}
	case !wholeTiles(k.Recipes.A, k.M) || !wholeTiles(k.Recipes.B, k.N):
		return quantisedProduct{why: fmt.Sprintf("%d rows and %d columns in tiles %v and %v, want whole tiles, or one", k.M, k.N, k.Recipes.A.Block, k.Recipes.B.Block)}
	case k.blockLength() > 0 && k.K%k.blockLength() != 0:
		return quantisedProduct{why: fmt.Sprintf("K = %d is no multiple of %d, the length of blocks", k.K, k.blockLength())}
	}
	for _, d := range []Distribution{k.X, k.Y} {
		if size := d.MeanAbs(); !(0x1p-100 < size && size < 0x1p100) {
			return quantisedProduct{why: fmt.Sprintf("elements of a mean size of %.3g, want 2^-100 to 2^100, well within binary32 and scales", size)}
		}
	}
	account := f.Account(conversionShares)
	errs, err := k.quantisationErrors(*x, *y, account.Spend("error"))
	if err != nil {
		return quantisedProduct{why: err.Error()}
	}
	tails, least := account.Spend("tails").Split(2), k.leastGiven(account.Spend("sizes"))
	a := newScaled(k.Recipes.A, *x, k.X.Largest(float64(k.M)*float64(k.K), tails))
	b := newScaled(k.Recipes.B, *y, k.Y.Largest(float64(k.K)*float64(k.N), tails))
	K := float64(k.K)
	most, codesA, codesB, outer := 4*K*a.largest*b.largest, a.codes(k.K), b.codes(k.K), outer{}
	if k.Recipes.outside(true) {
		f, g := a.recipe.Element, b.recipe.Element
		most = max(most, K*f.Max()*a.taken*g.Max()*b.taken)
		outer.applied, outer.greatest, outer.column = true, a.outer*b.outer, b.outer
	}
	if k.Device.ScaleBlock == 0 {
		f, g := a.recipe.Element, b.recipe.Element
		most, codesA, codesB = K*f.Max()*g.Max(), anyCodes(f, k.K, span{1, 1}), anyCodes(g, k.K, span{1, 1})
		outer.applied, outer.greatest, outer.column = true, a.scale*b.scale, b.scale
	}
	scaled := k.Device.ScaleBlock > 0
	if least := 0x1p-90; (scaled && outer.applied || k.Recipes.within(scaled)) && outer.greatest < least { // then products of scales are normal
		return quantisedProduct{why: fmt.Sprintf("scales have a product of at most %.3g, want %.3g at least, well within binary32", outer.greatest, least)}
	}
	if !(most <= k.Device.C.Max()/2) {
		return quantisedProduct{why: fmt.Sprintf("products add up to %.3g, %s ends at %.3g", most, k.Device.C.Name, k.Device.C.Max())}
	}
	tiny := K * (a.step*b.largest*(1+b.unit) + b.step*a.largest*(1+a.unit) + a.step*b.step)
	sizes := min(4, (1+a.unit)*(1+b.unit)+tiny/least) * (1 + ε)
	return quantisedProduct{
		conversion: conversion{error: errs().Size() / least, sizes: sizes, random: true},
		device:     k.ofCodes(codesA, codesB),
		outer:      outer,
		least:      least,
		note:       "for independent factors of these distributions, quantised without roundings of scales and quotients",
	}
}

// blockLength returns the length of blocks of A and B along K, 0 for all of it.
func (k Problem) blockLength() int {
	if k.Recipes == nil {
		return 0
	}
	return k.Recipes.A.Block.Along
}

// wholeTiles reports whether so many rows or columns are in whole tiles, or in
// one.
func wholeTiles(r quant.Recipe, vectors int) bool {
	across := r.Block.Across
	return across == 0 || vectors < across || vectors%across == 0
}

// inTiles returns the recipe for so many rows or columns, of which no tile has
// more.
func inTiles(r quant.Recipe, vectors int) quant.Recipe {
	if r.Block.Across > 0 {
		r.Block.Across = min(r.Block.Across, vectors)
	}
	return r
}

// ε is greater than the relative errors of a few operations in binary32.
const ε = 0x1p-20

// A scaled is what is known of a matrix of independent numbers that a recipe
// quantises, if none exceeds largest.
type scaled struct {
	recipe        quant.Recipe
	unit, largest float64
	scale         float64 // the greatest, that of the tensor included
	outer, taken  float64 // the scale of the tensor, at most, or 1, and the greatest of a block besides
	step          float64 // half the least number of the format, times that
}

func newScaled(r quant.Recipe, l law, largest float64) scaled {
	s := scaled{recipe: r, unit: r.Element.UnitRoundoff(), largest: largest, outer: 1}
	f, _ := quantisation.Quantised(l.of(), r)
	if f.Tensor != 0 {
		s.outer = largest / f.Tensor * (1 + ε)
	}
	if f.Aim != 0 {
		s.scale = max(largest, f.Least) / f.Aim * (1 + ε)
	}
	for _, next := range f.Scales {
		if s.scale = next.Value * s.outer; next.Top*s.outer > largest*(1+ε) {
			break
		}
	}
	s.taken = s.scale / s.outer
	s.step = s.scale * r.Element.MinSubnormal() / 2
	return s
}

// codes returns the range of the numbers of the codes.
func (s scaled) codes(K int) Range {
	least := max(float64(s.recipe.Scale.Range[0]), s.recipe.Scale.Stored.MinSubnormal())
	return anyCodes(s.recipe.Element, K, span{s.taken, least})
}

// anyCodes returns the range of vectors of K numbers of f with scales, of which
// all may be subnormal.
func anyCodes(f tcore.Format, K int, scales span) Range {
	r := Range{Max: f.Max(), Scale: scales.greatest, LeastScale: scales.least}
	*r.small.at(f.Emin - 1) = float64(K) * f.MinNormal()
	return r
}

// A lawsKey contains what errors of quantised factors of known laws depend on.
// Their cumulant generating function depends on the Reach of a product in place
// of K.
type lawsKey struct {
	x, y    law
	recipes Recipes
	M, N, K int
	f       roundoff.Failure
}

var (
	lawsErrors    = table[lawsKey, func() quantisation.Errors]{}
	lawsCumulants = table[lawsKey, func() *quantisation.Cumulant]{most: 16} // of megabytes
)

// quantisationErrors returns a function that finds bounds on ÂB̂ - AB that fail
// with probability at most e^f. The error says what package quantisation does
// not know.
func (k Problem) quantisationErrors(x, y law, f roundoff.Failure) (func() quantisation.Errors, error) {
	a, err := quantisation.Quantised(x.of(), inTiles(k.Recipes.A, k.M))
	if err != nil {
		return nil, err
	}
	b, err := quantisation.Quantised(y.of(), inTiles(k.Recipes.B, k.N))
	if err != nil {
		return nil, err
	}
	p, key := quantisation.Product{A: a, B: b, M: k.M, K: k.K, N: k.N}, lawsKey{x, y, *k.Recipes, k.M, k.N, k.K, f}
	return func() quantisation.Errors {
		return once(&lawsErrors, key, func() quantisation.Errors {
			if p.Reach() == p.K { // perhaps of no other K
				return p.Errors(f)
			}
			key := key
			key.K = p.Reach()
			return p.ErrorsOf(once(&lawsCumulants, key, func() *quantisation.Cumulant { return p.Cumulant(f) }), f)
		})
	}, nil
}
