// Package bound is the catalogue of rounding error bounds: what is known of the
// error of a matrix product on a given machine, from which source, and whether
// it is valid there.
//
// A [Problem] describes the product once: its sizes, the machine, the order of
// summation, and what is known of the data. A [Bound] is a formula of package
// roundoff together with its assumptions, as data: what it needs to know, how
// it assumes that the machine rounds, and its source. [Evaluate] evaluates
// every bound of the [Catalogue] for a problem, and marks those that are not
// valid for it, with the reason. [Tightest] returns the smallest valid one.
//
// Every bound is a constant β, the backward constant,
//
//	|D̂ - D| <= β |A||B|  elementwise,
//
// for all outputs together, with the requested confidence. A bound that reads
// the sums of a run is computed for each output; its β is the largest over all
// outputs.
//
// With [Recipes], A and B are quantised, with scales of blocks, rows or
// matrices. The numbers that codes and scales stand for are multiplied and
// added as others are, so that bounds on sums are bounds on theirs. What
// quantising loses is known from package quantisation or from the matrices.
//
// [Advise] answers the reverse question: which devices meet a tolerance, and at
// what cost.
//
// A bound is a limit that the error does not exceed. [Predict] returns the
// error to be expected on random data: its mean, or its slope on the sum, and
// its standard deviation.
//
// # To add a bound
//
// Write one file with one record, registered by the variable that names it:
//
//	var Gamma = register(Bound{
//		Name:     "gamma",
//		Source:   "Higham 2002, Lemma 3.1",
//		Formula:  `\gamma_n = \frac{nu}{1-nu}`,
//		Model:    Nearest,
//		Constant: func(k Problem, _ roundoff.Failure) Value { ... },
//	})
//
// The catalogue, the tests that every bound must pass, the command and the
// notebook then include it.
package bound
