package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// dotAddKernelFor returns the kernel for blocks of the given number of terms.
// If half, it rounds results to binary16; otherwise it truncates them.
func dotAddKernelFor(terms int, half bool) (k dotAddKernel, ok bool) {
	type kind struct {
		bits, terms int
		half        bool
	}
	run, ok := map[kind]dotAdd{
		{256, 4, false}: vector.DotAdd4_256, {256, 4, true}: vector.DotAddHalf4_256,
		{256, 8, false}: vector.DotAdd8_256, {256, 8, true}: vector.DotAddHalf8_256,
		{256, 16, false}: vector.DotAdd16_256, {256, 16, true}: vector.DotAddHalf16_256,
		{256, 32, false}: vector.DotAdd32_256, {256, 32, true}: vector.DotAddHalf32_256,
		{512, 4, false}: vector.DotAdd4_512, {512, 4, true}: vector.DotAddHalf4_512,
		{512, 8, false}: vector.DotAdd8_512, {512, 8, true}: vector.DotAddHalf8_512,
		{512, 16, false}: vector.DotAdd16_512, {512, 16, true}: vector.DotAddHalf16_512,
		{512, 32, false}: vector.DotAdd32_512, {512, 32, true}: vector.DotAddHalf32_512,
	}[kind{features.Bits, terms, half}]
	k = dotAddKernel{columns: features.Bits / 16, run: run, packRow: vector.RowExponents, packColumns: vector.PackExponents256}
	if features.Bits == 512 {
		k.packColumns = vector.PackExponents512
	}
	return k, ok
}
