// Package exact computes matrix products without any rounding, as the reference
// for errors of computed products.
//
//	ab, err := exact.GEMM(a, b) // AB, for all finite float32 data
//	ab.Error(d)                 // D̂ - AB, rounded once
//
// [AbsGEMM] returns |A||B|, to which bounds are relative, and [GEMMs] both.
// Elements are stored as integers times one common power of two, as long as the
// data need. Where the data allow it, products are added in 64-bit integers by
// vector instructions, or digit by digit, or in 128-bit integers. Otherwise the
// accumulator has all the bits between the least product and the greatest sum
// (Kulisch 2013).
package exact
