package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// stageKernelFor returns the kernel for the blocks of a core. It returns false
// if there is none.
func stageKernelFor(core TwoStage) (k stageKernel, ok bool) {
	type run = func(d, c, av *float32, ae *uint32, bv *float32, be *uint8, blocks int) uint64
	type kind struct {
		bits int
		TwoStage
	}
	k.run, ok = map[kind]run{
		{256, TwoStage{4, 1}}: vector.StageSums4x1_256, {256, TwoStage{8, 1}}: vector.StageSums8x1_256,
		{256, TwoStage{16, 2}}: vector.StageSums16x2_256,
		{512, TwoStage{4, 1}}:  vector.StageSums4x1_512, {512, TwoStage{8, 1}}: vector.StageSums8x1_512,
		{512, TwoStage{16, 2}}: vector.StageSums16x2_512,
	}[kind{features.Bits, core}]
	k.columns, k.pack, k.packPanel = features.Bits/8, packStageRow, packStagePanel(features.Bits/8)
	if features.Bits == 512 {
		k.pack = func(ae []uint32, src []float32, emin int) bool {
			return vector.StageRow(&ae[0], &src[0], len(src), emin) != 0
		}
		k.packPanel = func(bv []float32, be []uint8, src []float32, stride, emin int) uint64 {
			return vector.StagePanel(&bv[0], &be[0], &src[0], 4*stride, len(bv)/64, emin)
		}
	}
	return k, ok
}
