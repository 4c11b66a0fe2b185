// Package sweep tests the bounds of package bound. It computes matrix products
// on emulated machines, measures their errors exactly, and counts how often
// each bound of the catalogue is violated.
//
// A [Plan] lists what to compute: machines, distributions of data, lengths K
// and seeds. A [Row] of the result describes one bound on one machine,
// distribution and K: the outputs whose error exceeds the bound, the products
// with such an output, the confidence asked of the bound, and its tightness. A
// row of errors gives the mean, the spread and the slope of the errors
// themselves, with their predicted values.
//
//	rows, err := sweep.Plan{
//		Machines: []tcore.Machine{sweep.Volta}, Data: []sweep.Generator{sweep.Positive},
//		M: 64, N: 8, Ks: []int{256, 4096}, Seeds: []uint64{1, 2}, Confidences: []float64{0.99},
//	}.Run(ctx, nil)
//
// A bound is claimed if its assumptions are true of the machine and of the data
// ([Verdict]). Only claimed bounds are expected to hold; [Violated] returns
// those that do not.
//
// The bounds are given the distribution of the data, or what can be found in
// the matrices themselves ([Told]). Everything that a bound states is tested:
// its constant, its absolute term, the term for underflow, and the interval of
// each output. [Standard] is a plan with every device and many kinds of
// distributions. [Hunt] searches random products for violations, and reports
// each as a command.
//
// A [Shard] is a share of a sweep, for one of many computers. What it computes
// is a [Part], with a manifest; [JoinParts] returns the rows of the sweep, and
// they do not depend on the number of shards.
//
// [Join] joins the rows of different seeds, so that a sweep can be split over
// seeds, files and computers ([Write], [Read]). Only the times in a row and the
// last digits of its moments depend on how the sweep was split and on the
// number of cores.
//
// With recipes of package quant a sweep quantises the matrices first. Errors
// are then against their product as it was drawn, and a row of errors tells
// what quantisation and what sums contribute ([Component]).
//
// Bounds, machines and distributions are records in lists. A bound that is
// added to package bound is part of every sweep without a change here.
package sweep
