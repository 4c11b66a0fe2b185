// Package exact forms matrix products without any rounding, what computed ones
// are measured against.
//
//	ab, err := exact.GEMM(a, b) // AB, for all finite float32 data
//	ab.Error(d)                 // D̂ - AB, rounded once
//
// [AbsGEMM] returns |A||B|, which bounds are relative to. Elements are integers
// times one power of two, as long as the data need: products are added in 64
// bits by vector instructions where the data allow it, in 128, or in as many as
// there are between the least product and the greatest sum (Kulisch 2013).
package exact
