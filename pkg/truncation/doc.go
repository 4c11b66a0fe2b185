// Package truncation is the theory of what sums lose on machines that cut bits
// off: matrix units that align products to the largest of them, as those of
// NVIDIA and AMD do, have no rounding errors of mean zero, so that no
// probabilistic bound of package roundoff holds on them.
//
// But the bits that are cut off have a distribution, which follows from that of
// the products. It is derived in this order, and proved in docs/truncation.md:
//
//	Accumulator          the machine: how many products it adds at once, and which bits it keeps;
//	                     Zeta is the constant of its deterministic bound
//	ProductDistribution  the distribution of a product, by enumeration or from a sample
//	Losses               mean and moments of what a product of that distribution loses
//	LossesAt             the same with an accumulator of a known exponent, with what is not known of it
//	Sum, TwoStageSum     a bound on the error of a sum of K such products, before it is computed
//	Cumulant             a bound on the error of one that has been computed, from the sums on its way
//
// What an error is like, not what it cannot exceed, a [RunningSum] tells from
// the errors of single steps. For machines that truncate an Accumulator has
// closed forms besides, from which are the [GrowthRates].
//
// Probabilities are those of package roundoff, logarithms of failures.
package truncation
