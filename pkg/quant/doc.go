// Package quant quantises matrices as libraries do, bit for bit.
//
// A [Recipe] is one record: which numbers share a scale, how the scale follows
// from the greatest magnitude among them, in which order the operations round,
// and what becomes of zeros, infinities and NaN. Recipes that have a name
// stand in [Recipes]; a variant is a copy with one field changed:
//
//	r := quant.MXFP8(quant.FloorScale)
//	r.Rounding = quant.ToNearestAway
//
//	a, err := r.Quantise(x, quant.Left)   // codes and scales
//	a.Dequantise()                        // what the product sees
//
// Libraries differ in bits that no formula shows: x / s is not x · fl(1/s), and
// of a million bfloat16 numbers that become e4m3 some hundreds have another
// code.
//
// A [Kernel] multiplies quantised matrices as a library does: it says where
// scales enter that the tensor core does not take, and in which order.
//
//	d, err := quant.DeepGEMMKernel(tcore.Machine{Device: devices.HopperE4M3()}).Multiply(a, b)
package quant
