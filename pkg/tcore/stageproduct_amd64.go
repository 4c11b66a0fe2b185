package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// stageKernelFor returns the kernel for the blocks of a core. It returns false
// if there is none.
func stageKernelFor(core TwoStage) (k stageKernel, ok bool) {
	k = stageKernel{columns: 64, pack: vector.StageRow, packPanel: vector.StagePanel}
	switch core {
	case TwoStage{Terms: 4, Parts: 1}:
		k.run = vector.StageSums4x1
	case TwoStage{Terms: 8, Parts: 1}:
		k.run = vector.StageSums8x1
	case TwoStage{Terms: 16, Parts: 2}:
		k.run = vector.StageSums16x2
	}
	return k, k.run != nil && features.Bits == 512
}
