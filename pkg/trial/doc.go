// Package trial is one measurement: a product of two matrices on an emulated
// machine, beside the exact product of the same numbers.
//
// [Run] takes a problem, data and a seed, and returns all of it:
//
//	t, err := trial.Run(problem, data, 1)
//	t.D          // what the machine computed, D̂
//	t.Values     // what it should have, D = AB
//	t.Sizes()    // |A||B|
//	t.Errors     // D̂ - D
//	t.Backward() // |D̂ - D| / (|A||B|), what a constant of a bound bounds
//
// Several machines multiply the same matrices by one [Product], whose exact
// result is formed once: [Of] two matrices, or [On] a device, of what the
// device makes of them.
package trial
