// Package truncation predicts and bounds the errors of sums on machines that
// cut off low bits. Matrix units that align products to the largest of them, as
// those of NVIDIA and AMD do, have rounding errors whose mean is not zero. So
// the probabilistic bounds of package roundoff are not valid on them.
//
// But the bits that are cut off have a distribution, which follows from that of
// the products. The package derives it in this order; docs/truncation.md has
// the proofs:
//
//	Accumulator          the machine: how many products it adds at once, and which bits it keeps;
//	                     Zeta is the constant of its deterministic bound
//	ProductDistribution  the distribution of a product, by enumeration or from a sample
//	Losses               mean and moments of what alignment cuts off a product of that distribution
//	LossesAt             the same at a known exponent, with the uncertainty of an estimated distribution
//	Sum, TwoStageSum     a bound on the error of a sum of K such products, before it is computed
//	Cumulant             a bound on the error of a sum that has been computed, from its running sums
//
// A [RunningSum] predicts the mean and the variance of an error, not a bound on
// it, from the errors of single steps. For machines that truncate, an
// Accumulator also has closed forms, from which the [GrowthRates] follow.
//
// Probabilities of failure are given as logarithms, as in package roundoff.
package truncation
