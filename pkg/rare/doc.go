// Package rare estimates how often an error bound fails where that is too rare
// to be counted: probabilities of 10⁻⁹ and less, each with an error bar of its
// own.
//
//	found, err := rare.Fails(ctx, problem, bound.MartingaleDistribution, stated, rare.Effort{Seed: 1})
//	found.Rate, found.Low, found.High // how often it fails, and the interval that has this with 95 %
//
// There are two methods. [Splitting] treats the product as a black box, so that
// it serves every machine: it goes to rare errors by levels, each of which a
// quarter of the products beyond the last one exceed. [Tilting] is for
// stochastic rounding, whose random bits are ours: it changes the probability
// of each rounding, and weighs every sum by the exact ratio of likelihoods.
// [Exceeds] and [Fails] take the one that a problem needs. docs/rare.md has the
// assumptions, and what is found.
package rare
