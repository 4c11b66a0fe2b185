// Package probe asks a matrix unit what it does, one instruction at a time.
//
// A [Unit] computes d = c + Σ xᵢyᵢ on given bit patterns. There are two:
// [Emulate] makes one of a device of package tcore, and [OnGPU] runs the
// instruction itself on an NVIDIA GPU. What can be asked is the same for both,
// so that everything but the GPU is tested without one:
//
//   - [Infer] measures how the unit adds, by feature tests, and returns a
//     [Record];
//   - [WriteVectors] records its results, as test vectors of the format tcvec1;
//   - [Verify] compares it with the emulation on random operands, for a given
//     time.
//
// # Feature tests
//
// The idea is that of Fasi et al. (2021) and Li et al. (2024): operands that
// are powers of two, chosen so that one property of the adder decides whether
// the result is one number or another. Each test in feature.go says what it
// adds and what follows. A property that no operands of these formats can show
// is reported as not visible, never guessed. A record is worth what it
// predicts: Infer ends by comparing the unit with the device it inferred on
// random operands.
//
// # Instructions on the GPU
//
// The kernels are PTX text, compiled by the driver. A kernel loads registers,
// issues one mma.sync or wgmma, and stores registers: which element is in which
// register of which lane is computed here, in fragment.go, from the tables of
// the PTX ISA manual. Of a tile, the diagonal is used: row i of A and column i
// of B are one dot product, so that no two share operands.
//
// No silicon has been seen by this code yet. The layouts are tested for what
// can be known without it: every element has one owner, and a model of the tile
// built from rows and columns returns what was put in.
package probe
