// Package plan computes what a library returns, not only what one instruction
// returns: which products meet where, and in what precision.
//
// A library chooses a kernel, cuts K, chains instructions over each part,
// merges the parts, and rounds. A [Plan] says so as a value. Its [Order] has
// two kinds of nodes: a [Run] is one accumulator, to which an instruction adds
// products, and [Parts] cuts a sum, computes each part in an order of its own,
// and merges them. Lanes of scalar FMAs are parts of interleaved products, a
// promotion every 128 products is parts of 128, split K is so many parts:
//
//	wgmma := devices.HopperE4M3()
//	promoted := plan.Parts{Cut: plan.Cut{Length: 128}, Each: plan.Run{Device: wgmma}}
//
// [Plan.GEMM] computes a product at the speed of the device, [Plan.Dot] one
// element step by step. The tests compare both with an interpreter in exact
// arithmetic.
//
// Which library uses which plan is known to package library.
package plan

import "github.com/roundofflab/roundoff/internal/argument"

const pkg argument.Package = "plan"
