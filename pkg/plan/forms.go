package plan

// Forms returns one plan of each order of summation that libraries of GPUs are
// known to have, with numbers as their kernels have them, for lists and
// examples. The Doc says in a sentence what is characteristic.
//
// Source: derived from the orders of kernels of cuBLASLt, DeepGEMM and CUTLASS.
func Forms() []Plan {
	var list []Plan
	for _, f := range []struct{ name, text, doc string }{
		{"plain", "hopper-wgmma-binary16-binary32 > binary16", "one accumulator over all of K"},
		{"split", "hopper-wgmma-binary16-binary32 | every 2048 > binary16", "slices of K, each with an accumulator, added in binary32"},
		{"split-blocks", "hopper-wgmma-e4m3-binary32 | every 128 | every 2048 > binary16", "promoted every 128 products, and slices of K"},
		{"residue-first", "hopper-mma-binary16-binary32 group 8 tile 32 > binary16", "what tiles of K leave over comes first"},
		{"split-groups", "hopper-mma-binary16-binary32 group 8 tile 32 | every 2048 + running binary16 > binary16", "slices of K, whose running total is rounded to the format of D"},
		{"two-halves", "ieee-fma-binary16-binary32 | every 256 + zero | parts 2 + zero > binary16", "FMAs in blocks, and K in a few parts"},
		{"lanes", "ieee-fma-binary16-binary32 | lanes 32 vector 4 + butterfly > binary16", "a warp of FMAs, whose lanes are added in pairs"},
		{"slices", "ieee-fma-binary16-binary32 | every 16 | lanes 32 > binary16", "a slice of K for each lane, in chunks of 16"},
		{"blocks-of-lanes", "ieee-fma-binary16-binary32 | lanes 2 vector 1 + zero | lanes 128 vector 2 + butterfly | lanes 8 vector 256 + folds 128,64,32,4,1 > binary16", "blocks of 128 lanes, and a second kernel that adds the blocks"},
		{"scaled", "hopper-wgmma-e4m3-binary32 | every 128 + fused > bfloat16", "promoted every 128 products times the scales of a block, by an FMA"},
	} {
		p, err := Parse(f.text)
		if err != nil {
			panic(err)
		}
		p.Name, p.Doc = f.name, f.doc
		list = append(list, p)
	}
	return list
}
