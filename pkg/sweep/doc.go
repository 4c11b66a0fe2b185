// Package sweep judges the judges: it runs matrix products on emulated
// machines, measures their errors exactly, and counts how every bound of the
// catalogue of package bound did.
//
// A [Plan] says what to try: machines, distributions of data, lengths K, seeds.
// A [Row] of its result is what happened to one bound on one machine,
// distribution and K: how many outputs exceed it, in how many products any did,
// against the confidence that was asked for; how tight it is; and of the errors
// themselves the mean, the spread and the slope, beside what is predicted.
//
//	rows, err := sweep.Plan{
//		Machines: []sweep.Machine{sweep.Volta}, Data: []sweep.Data{sweep.Positive},
//		M: 64, N: 8, Ks: []int{256, 4096}, Seeds: []uint64{1, 2}, Confidences: []float64{0.99},
//	}.Run(ctx, nil)
//
// Bounds are told of the data what the distribution says, or what can be found
// in the matrices ([Told]), and are held to all that they say: the constant,
// what is absolute, what underflow adds, and intervals by themselves.
// [Standard] is a plan of every device and of distributions of all kinds;
// [Hunt] looks at random for what fails, and tells it as a command.
//
// Rows of different seeds are joined by [Join]: a sweep can be split over
// seeds, over files and over computers ([Write], [Read]). Nothing in a row but
// its times and the last digits of its moments depends on how it was split, or
// on the number of cores.
//
// A bound, a machine or a distribution is a record in a list. One more bound in
// package bound is in every sweep without a word here.
package sweep
