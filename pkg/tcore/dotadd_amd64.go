package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// dotAddKernelFor returns the kernel of a kind. It returns false if there is
// none.
func dotAddKernelFor(kind dotAddKind) (k dotAddKernel, ok bool) {
	if kind.wide {
		kind.checked = false
	}
	run, ok := map[dotAddKind]dotAdd{
		{256, false, false, false}: vector.DotAdd256, {512, false, false, false}: vector.DotAdd512,
		{256, false, true, false}: vector.DotAddChecked256, {512, false, true, false}: vector.DotAddChecked512,
		{256, false, false, true}: vector.DotAddWide256, {512, false, false, true}: vector.DotAddWide512,
		{256, true, true, false}: vector.DotAddHalf256, {512, true, true, false}: vector.DotAddHalf512,
		{256, true, false, true}: vector.DotAddHalfWide256, {512, true, false, true}: vector.DotAddHalfWide512,
	}[kind]
	k = dotAddKernel{rows: 1, columns: 32, run: run, packRows: vector.PackRows256, packColumns: vector.PackColumns256}
	if kind.bits == 512 {
		k.rows, k.columns, k.packRows, k.packColumns = 2, 64, vector.PackRows512, vector.PackColumns512
	}
	return k, ok
}
