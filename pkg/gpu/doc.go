// Package gpu multiplies matrices on the tensor cores of an NVIDIA GPU, through
// the vendor's own libraries. Its results can be compared with the emulation of
// package tcore.
//
//	g, err := gpu.Open()
//	if errors.Is(err, gpu.ErrNoGPU) { … } // a normal state: use the emulation, or recorded results
//	defer g.Close()
//	k := g.Routine(devices.HopperF16())
//	report, err := k.Multiply(ctx, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, d)
//
// No part of CUDA is needed to build this package. At first use it opens the
// driver, cuBLAS and cuBLASLt. It searches, in this order: the folders in
// ROUNDOFF_CUDA_PATH, the places where the dynamic loader looks, CUDA_HOME, the
// usual folders, and the Python wheels of the active environment. Without cgo,
// and on systems other than Linux, [Open] returns [ErrNoGPU].
//
// # Rows and columns
//
// Matrices in this module are row-major; those of cuBLAS are column-major. A
// row-major matrix, read by columns, is its transpose. The product D = AB is
// therefore requested as Dᵀ = BᵀAᵀ: the operands are swapped, no matrix is
// copied to transpose it, and the m, n, k passed to cuBLAS are the columns of
// D, the rows of D, and the length of a dot product. Factors of 8 bits are the
// exception: cuBLASLt requires both factors with K contiguous in memory, and
// the host arranges a copy in that order.
//
// cuBLASLt also takes row-major matrices, and may choose another algorithm for
// them. With [Routine.Rows] it is asked for D = AB: m and n are the rows and
// columns of D, rows follow each other without padding, and factors of 8 bits
// are those above, without padding too, so that the library does not support
// sizes that are not multiples of 16. This is the question whose answers have
// been published (bitequiv 2026), but for the scales of factors of 8 bits, of
// which none are given.
//
// # Bits
//
// Factors are rounded on the host, to nearest even, as the emulation rounds
// them. The bits of the result then depend on the kernel that the library
// chooses and on whether it splits K. A [Report] names the algorithm, and
// [Routine.Algorithm] and [Routine.SplitK] fix it.
//
// This code has run on an H100 and an H200. Its tests run on a fake of the
// libraries.
package gpu
