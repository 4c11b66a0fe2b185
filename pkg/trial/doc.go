// Package trial measures rounding errors: it computes a product of two matrices
// on an emulated machine and compares it with the exact product of the same
// numbers.
//
// [Run] uses a problem, a generator of data and a seed, and returns the
// computed result, the exact result and the errors:
//
//	t, err := trial.Run(problem, data, 1)
//	t.D          // what the machine computed, D̂
//	t.Values     // the exact result D = AB, rounded to binary64
//	t.Sizes()    // |A||B|
//	t.Errors     // D̂ - D
//	t.Backward() // |D̂ - D| / (|A||B|), to compare with the constant of a bound
//
// Several machines multiply the same matrices by one [Product], whose exact
// result is computed once: [Of] multiplies two matrices as they are, [On] the
// matrices after conversion to the formats of a device.
package trial
