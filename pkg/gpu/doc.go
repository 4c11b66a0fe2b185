// Package gpu is the tensor cores of an NVIDIA GPU, through the vendor's own
// libraries: the silicon beside the emulation of package tcore.
//
//	g, err := gpu.Open()
//	if errors.Is(err, gpu.ErrNoGPU) { … } // a normal state: use the emulation, or recorded results
//	defer g.Close()
//	k := g.Kernel(devices.HopperF16())
//	report, err := k.Multiply(ctx, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c, d)
//
// Nothing of CUDA is needed to build it. The driver, cuBLAS and cuBLASLt are
// opened at first use, from the folders in ROUNDOFF_CUDA_PATH, where the loader
// looks, in CUDA_HOME, in the usual folders and in the Python wheels of the
// active environment. Without cgo, and elsewhere than on Linux, [Open] returns
// [ErrNoGPU].
//
// # Rows and columns
//
// Matrices here are row-major, as everywhere in this module, and those of
// cuBLAS are column-major. A row-major matrix is its transpose read by columns,
// so that D = AB is asked for as Dᵀ = BᵀAᵀ: the operands are swapped, nothing
// is copied to transpose it, and the m, n, k that cuBLAS is given are the
// columns of D, the rows of D, and the length of a dot product. Factors of 8
// bits are the exception: their products want both factors with K contiguous,
// and a host copy is laid out so.
//
// # Bits
//
// Factors are rounded on the host, to nearest even, as the emulation rounds
// them. What the device then does depends on the kernel that the library
// chooses and on whether it splits K: a [Report] tells it, and
// [Routine.Algorithm] and [Routine.SplitK] fix it.
//
// No silicon has been seen by this code yet: its tests run on a fake of the
// libraries.
package gpu
