package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// dotAddKernelFor returns the kernel of a kind. It returns false if there is
// none.
func dotAddKernelFor(kind dotAddKind) (k dotAddKernel, ok bool) {
	switch features.Bits {
	case 256:
		run, ok := map[dotAddKind]dotAdd{
			{}:                          vector.DotAdd256,
			{narrow: true}:              vector.DotAddNarrow256,
			{checked: true}:             vector.DotAddChecked256,
			{wide: true}:                vector.DotAddWide256,
			{split: true}:               vector.DotAddSplit256,
			{half: true}:                vector.DotAddHalf256,
			{half: true, checked: true}: vector.DotAddHalfChecked256,
			{half: true, wide: true}:    vector.DotAddHalfWide256,
			{half: true, split: true}:   vector.DotAddHalfSplit256,
		}[kind]
		return dotAddKernel{1, 32, run, run, vector.PackRows256, vector.PackColumns256}, ok
	case 512:
		run, ok := map[dotAddKind]dotAdd{
			{}:                          vector.DotAdd512,
			{narrow: true}:              vector.DotAddNarrow512,
			{checked: true}:             vector.DotAddChecked512,
			{wide: true}:                vector.DotAddWide512,
			{split: true}:               vector.DotAddSplit512,
			{half: true}:                vector.DotAddHalf512,
			{half: true, checked: true}: vector.DotAddHalfChecked512,
			{half: true, wide: true}:    vector.DotAddHalfWide512,
			{half: true, split: true}:   vector.DotAddHalfSplit512,
		}[kind]
		return dotAddKernel{2, 64, run, run, vector.PackRows512, vector.PackColumns512}, ok
	}
	return k, false
}
