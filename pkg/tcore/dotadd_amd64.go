package tcore

// dotAddKernelFor returns the kernel for blocks of the given number of terms.
// If half, it rounds results to binary16; otherwise it truncates them.
func dotAddKernelFor(terms int, half bool) (k dotAddKernel, ok bool) {
	type kind struct {
		bits, terms int
		half        bool
	}
	run, ok := map[kind]dotAdd{
		{256, 4, false}: dotAdd4_256, {256, 4, true}: dotAddHalf4_256,
		{256, 8, false}: dotAdd8_256, {256, 8, true}: dotAddHalf8_256,
		{256, 16, false}: dotAdd16_256, {256, 16, true}: dotAddHalf16_256,
		{256, 32, false}: dotAdd32_256, {256, 32, true}: dotAddHalf32_256,
		{512, 4, false}: dotAdd4_512, {512, 4, true}: dotAddHalf4_512,
		{512, 8, false}: dotAdd8_512, {512, 8, true}: dotAddHalf8_512,
		{512, 16, false}: dotAdd16_512, {512, 16, true}: dotAddHalf16_512,
		{512, 32, false}: dotAdd32_512, {512, 32, true}: dotAddHalf32_512,
	}[kind{vectorBits, terms, half}]
	k = dotAddKernel{columns: vectorBits / 16, run: run, packRow: rowExponents, packColumns: packExponents256}
	if vectorBits == 512 {
		k.packColumns = packExponents512
	}
	return k, ok
}
