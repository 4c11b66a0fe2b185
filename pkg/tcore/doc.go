// Package tcore implements the arithmetic of the paper and of matrix units:
// number formats, one rounding routine, FMA, mixed-precision FMA, the idealised
// tensor core of Algorithm 1, models of devices, and streaming operations to
// time.
//
// # Formats
//
// A [Format] is a value. The catalogue contains those below; a new one is one
// literal.
//
//	name      bits   p   emin  emax         u        max  min normal  min subnormal
//	binary64    64  53  -1022  1023  1.11e-16  1.80e+308   2.23e-308      4.94e-324
//	binary32    32  24   -126   127  5.96e-08   3.40e+38    1.18e-38        1.4e-45
//	tf32        19  11   -126   127  0.000488   3.40e+38    1.18e-38       1.15e-41
//	bfloat16    16   8   -126   127   0.00391   3.39e+38    1.18e-38       9.18e-41
//	binary16    16  11    -14    15  0.000488      65504     6.1e-05       5.96e-08
//	e5m2         8   3    -14    15     0.125      57344     6.1e-05       1.53e-05
//	e4m3         8   4     -6     8    0.0625        448      0.0156        0.00195
//	e5m2fnuz     8   3    -15    15     0.125      57344    3.05e-05       7.63e-06
//	e4m3fnuz     8   4     -7     7    0.0625        240     0.00781       0.000977
//	e3m2         6   3     -2     4     0.125         28        0.25         0.0625
//	e2m3         6   4      0     2    0.0625        7.5           1          0.125
//	e2m1         4   2      0     2      0.25          6           1            0.5
//	e8m0         8   1   -127   127       0.5   1.70e+38    5.88e-39       5.88e-39
//	ue4m3        8   4     -6     8    0.0625        448      0.0156        0.00195
//
// The first six have infinities and NaN as in IEEE 754. The other 8-bit formats
// have a NaN only, and the 6-bit and 4-bit formats neither. The fnuz formats
// have no -0. The scales e8m0 and ue4m3 have no negative numbers, and e8m0 has
// no zero. Precision counts the implicit bit. Values of every format are stored
// in float64, of which each format here is a subset; codes (bit patterns) are
// stored in uint64.
//
// # Rounding
//
// There is one rounding routine. [Format.Round], [Format.Encode], [Format.Add],
// [Format.Mul] and [Format.FMA] each compute their result exactly, or exactly
// up to a sticky bit that is set if any lower bit was cut off, and pass it to
// this routine. The routine
//
//  1. places the quantum, the weight of the last bit kept, p-1 binary places
//     below the leading bit but not below the least subnormal;
//  2. truncates there, and keeps the rest as a fraction of 64 bits, the last
//     of them sticky;
//  3. adds one quantum or none, depending on the [RoundingMode] or on the
//     random number of [Stochastic];
//  4. handles underflow, in a format that flushes subnormals or has no zero;
//  5. handles overflow: a result that exceeds Max after step 3 becomes the
//     one that IEEE 754 defines for the mode, where the format's [Overflow]
//     replaces infinity.
//
// The faster routines ([Format.RoundSlice] to nearest even,
// [Stochastic.RoundSlice], [Format.RoundSlice32], [EncodeSlice16],
// [Device.MultiplyAdd] on a [TensorCore]) return the same values and are tested
// against it. On amd64 with AVX2 or AVX-512 the first two are vector code,
// which go generate writes by the generator in internal/asm.
//
// Emulated arithmetic makes every rounding explicit: the Go specification
// allows a compiler to fuse x*y + z, and an explicit conversion as in
// float32(x*y) + z forbids it.
//
// # Machines
//
// [MPFMA] is the mixed-precision FMA, given by the five formats that the paper
// names; [TensorCore] adds the block width b. [PaperF32] and [PaperF16] are the
// two rows of the paper's Table 2. They are ideal machines: IEEE arithmetic,
// left to right, round to nearest. Tensor cores of silicon align and truncate.
//
// # Devices
//
// A [Device] is one instruction of one architecture, bit for bit as the best
// public models describe it (Fasi et al. 2021; Khattak & Mikaitis 2025; Xie et
// al. 2025), or as a processor was found to compute. Package devices is the
// catalogue, from Volta to Blackwell, CDNA1 to CDNA3, Sapphire Rapids, Granite
// Rapids, and Arm. Its Core is the arithmetic of one block:
//
//	core          what it does with the terms of a block        models
//	Fused         aligns, truncates, adds, rounds once          NVIDIA
//	Split         two Fused, and an addition                    8-bit mma of Hopper, B200
//	ExactSum      adds exactly, rounds once                     CDNA1, Arm with 8-bit factors
//	Pairwise      IEEE steps in pairs, subnormals flushed       CDNA2
//	EvenOdd       two chains of FMAs, subnormals flushed        Intel AMX
//	OddFirst      FMAs in another order, subnormals flushed     AVX-512
//	OddPairs      pairs rounded to odd, subnormals flushed      Arm
//	FusedPairs    pairs added exactly, rounded, added to c      Arm, extended bfloat16 and binary16
//	TwoStage      aligns and truncates products, then c         CDNA3
//	Chain         one FMA after the other                       binary64, CDNA binary32, AVX512-FP16
//	TensorCore    Algorithm 1                                   the paper
//	WrappedSum    integers modulo 2^32                          Intel AMX
//
// [Device.Dot] computes with values, [Device.DotCodes] and [Device.DotScaled]
// with bit patterns, [Device.MultiplyAdd] with matrices. [Machine] is GEMM as a
// library builds it: transposes, alpha and beta, split K, a converted result.
// [Device.Trace] returns which part of every term was kept and which was cut
// off, and [Machine.Trace] also the additions of parts of K.
// [Device.ExactGEMM] returns the exact product, for measuring errors, and
// [Device.ExactGEMMs] also |A||B|.
// Where the published models disagree, [Contested] has a field.
//
// # Exact results
//
// Package exact computes AB and |A||B| without any rounding. [Float64GEMM]
// returns what the paper used as the actual result.
//
// # Streaming
//
// [StreamMAC], [StreamFMA] and [StreamMPFMA] compute d = a × b + c elementwise,
// in one pass through the arrays: the rows of the paper's Table 3, to be timed
// on a real processor. On amd64 with AVX2, FMA and F16C they are vector code,
// elsewhere pure Go. Both return the same bits, except that a NaN may differ in
// its payload.
package tcore
