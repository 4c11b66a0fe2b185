// Package tolerance says by how much the outputs of a matrix product may differ
// from the exact ones: not a number that somebody chose, but the tightest of
// the bounds that hold for the device that computes it and for these matrices.
//
//	data, err := tolerance.Measure(a, b)
//	t, err := data.Of(tolerance.Implementation{Machine: tcore.Machine{Device: devices.HopperF16()}}, roundoff.FailureOf(0.999999))
//	report := t.Compare(got)
//
// Every output has a tolerance of its own, absolute, which follows from its own
// sum of sizes, |A||B|. What is not known of the implementation, as into how
// many parts K is split, is an [Orders]: the limit of an output is then the
// greatest of all that are possible, and one number of parts has to fit all
// outputs unless the orders are [MixedSplits]. It holds for all outputs
// together: the probability that any of a sound product is beyond it is at most
// e^f. With [roundoff.Never] only bounds are used that assume nothing and
// always hold.
//
// [Tolerance.Compare] tells which outputs are beyond it, by how much, and which
// causes would explain that: products that are missing, a wrong scale, rows in
// another place, sums in binary16, a flipped bit.
//
// Tolerances are for results that do not overflow.
package tolerance

import "github.com/roundofflab/roundoff/internal/argument"

const pkg argument.Package = "tolerance"
