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
// # Plans as text
//
// [Parse] reads a plan from a text and [Plan.String] writes it, for flags and
// files. A text goes from the inside out, as numbers do: a device adds
// products, then come the cuts whose parts it adds, the innermost first, then
// the format of the result.
//
//	hopper-wgmma-e4m3-binary32                             one accumulator over all K
//	hopper-wgmma-e4m3-binary32 | every 128                 promoted every 128 products
//	hopper-wgmma-e4m3-binary32 | every 128 | every 2048    in slices of 2048 too
//	hopper-wgmma-binary16-binary32 | every 2048 + running binary16 > binary16
//
// The grammar, where {x} is x any number of times, [x] is x once or not at all,
// and n is a number from 1 on:
//
//	plan    run { "|" cut [ "+" merge ] } [ ">" output ]
//	run     device [ "group" n ] [ "tile" n ]
//	cut     "every" n  or  "parts" n [ "grain" n ] [ "floor" ]
//	        or  "lanes" n [ "vector" n  or  "upto" n ] [ "nominal" n ] [ "whole" n ]
//	        or  "at" n,n,…  or  "halves" n "most" n  or  "head" n
//	merge   [ "folds" n,…,1  or  "butterfly" ] [ "zero" ] [ "partial" format ]
//	        [ "running" format ] [ "fused"  or  "fused-second" ]
//	output  format [ "fused-beta" ]  or  "fused-beta"
//
// A device is a name of package devices, or ieee-fma-x-y, FMAs with factors of
// format x and sums of format y. (x,y) after it are other formats of its
// factors.
//
//	ampere-mma-binary16-binary32 group 8 tile 32           Group and Tile of a Run
//	hopper-wgmma-e4m3-binary32(e5m2,e4m3)                  a factor of another format
//	… | every 128                                          Length
//	… | parts 9 grain 64 floor                             Count, Grain and Floor
//	… | lanes 32 vector 4                                  Lanes and Vector
//	… | lanes 16 upto 64 nominal 2048                      a Vector of -64, and Nominal
//	… | lanes 2 vector 1 whole 8                           Whole
//	… | at 100,200                                         At
//	… | halves 8 most 128                                  Halves and Most
//	… | head 8                                             Head
//	… | parts 4 + zero                                     sums that start at +0
//	… | lanes 128 vector 1 + butterfly                     Folds 64,32,16,8,4,2,1
//	… | lanes 148 vector 256 + folds 128,64,32,4,1         other Folds
//	… | every 2048 + partial binary16                      Partial; running is Running
//	… | every 128 + fused > bfloat16                       Scale Fused; and FusedSecond
//
// Which library uses which plan is known to package library.
package plan

import "github.com/roundofflab/roundoff/internal/argument"

const pkg argument.Package = "plan"
