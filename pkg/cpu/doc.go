// Package cpu multiplies matrices by the dot-product instructions of the
// processor itself: TDPBF16PS of Intel's matrix unit AMX, its instructions of
// integers, TDPBSSD and kin, VDPBF16PS of AVX-512, and chains of FMAs in
// binary16, VFMADD231PH of AVX512-FP16; on arm64, BFDOT and BFMMLA, and BFMOPA
// and the widening FMOPA of the matrix unit SME. Its results can be compared
// with the emulation of package tcore, which has the same bits.
//
//	u, err := cpu.Open(devices.AMXBF16())
//	if errors.Is(err, cpu.ErrNoMatrixUnit) { … } // a normal state: use the emulation
//	u.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, d)
//
// It is assembly, needs no cgo, and finds out at run time what the processor
// has. Linux gives tiles only to a process that asks for them, which [Open]
// does. A routine configures the tiles, uses and releases them without a return
// to Go in between, so that neither other goroutines nor other libraries find
// any in use; signals may interrupt it.
package cpu
