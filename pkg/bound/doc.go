// Package bound is the catalogue of rounding error bounds: what is known of the
// error of a matrix product on a given machine, from whom, and whether it is
// true there.
//
// A [Problem] describes the product once: its sizes, the machine, the order of
// its sums, and what is known of the data. A [Bound] is a formula of package
// roundoff with its assumptions as data: what it needs to know, how it takes
// the machine to round, where it comes from. [Evaluate] puts every bound of the
// [Catalogue] to a problem, and marks the ones that do not hold there with the
// reason; [Tightest] returns the smallest that does.
//
// Every bound is a constant β, the backward constant,
//
//	|D̂ - D| <= β |A||B|  elementwise,
//
// for all outputs together, with the confidence asked for. A bound that reads
// the sums of a run is a bound for each output; its β is the largest over them.
//
// [Advise] asks the other way round: which devices keep a tolerance, and what
// they cost.
//
// A bound says what an error cannot exceed, [Predict] what it will be like: its
// mean, or its slope on the sum, and its deviation, on random data.
//
// # To add a bound
//
// Write one file with one record, registered by the variable that names it:
//
//	var Gamma = register(Bound{
//		Name:     "gamma",
//		Source:   "Higham 2002, Lemma 3.1",
//		Model:    Nearest,
//		Constant: func(k Problem, _ roundoff.Failure) Value { ... },
//	})
//
// The catalogue, the tests that every bound must pass, the command and the
// notebook find it there.
package bound
