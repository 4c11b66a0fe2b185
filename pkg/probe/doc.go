// Package probe determines what a matrix unit computes, one instruction at a
// time.
//
// A [Unit] computes d = c + Σ xᵢyᵢ on given bit patterns. There are two:
// [Emulate] makes one from a device of package tcore, and [OnGPU] runs the
// instruction itself on an NVIDIA GPU. Both offer the same methods, so that all
// code but that of the GPU is tested without a GPU:
//
//   - [Infer] measures how the unit adds, by feature tests, and returns a
//     [Record];
//   - [WriteVectors] records its results, as test vectors of the format tcvec1;
//   - [Verify] compares it with the emulation on random operands, for a given
//     time, and [VerifyDots] on a given number of them. A [GridUnit], as the
//     units of package cpu are, is compared millions of times a second.
//
// # Feature tests
//
// The idea is that of Fasi et al. (2021) and Li et al. (2024): the operands are
// powers of two, chosen so that one property of the adder decides which of two
// numbers the result is. In feature.go the comment of each test says what it
// adds and what follows from the result. A property that no operands of these
// formats can show is reported as not visible and never guessed. A record is
// tested by its predictions: Infer ends by comparing the unit, on random
// operands, with the device that it inferred.
//
// # Instructions on the GPU
//
// The kernels are PTX text, compiled by the driver. A kernel loads registers,
// issues one mma.sync or wgmma, and stores registers. Which element is in which
// register of which lane is computed in fragment.go, from the tables of the PTX
// ISA manual. Only the diagonal of a tile is used: row i of A and column i of B
// form one dot product, so that no two dot products share operands.
//
// On an H100 and an H200 the instructions of Hopper agree with the emulation.
// The kernels of other architectures have been assembled and not run. The
// layouts of registers are tested as far as is possible without a GPU: every
// element belongs to exactly one lane, and a model of the tile, built from rows
// and columns, returns the elements that were stored in it.
package probe
