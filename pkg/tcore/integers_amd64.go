package tcore

import "github.com/roundofflab/roundoff/internal/vector"

// integerKernelFor returns the kernel of products of integers. It returns false
// if there is none.
func integerKernelFor() (k integerKernel, ok bool) {
	switch {
	case features.Bits == 512 && features.VNNI:
		return integerKernel{12, 32, 1 << 31, vector.SumBytes12x32VNNI, vector.RowBytes512, vector.PanelBytes512,
			vector.AddBlocks12x32VNNI, vector.RowWords512, vector.PanelWords512}, true
	case features.Bits == 512:
		return integerKernel{12, 32, 1 << 15, vector.SumBytes12x32, vector.RowBytes512, vector.PanelBytes512,
			vector.AddBlocks12x32, vector.RowWords512, vector.PanelWords512}, true
	case features.Bits == 256:
		return integerKernel{4, 16, 1 << 15, vector.SumBytes4x16, vector.RowBytes256, vector.PanelBytes256,
			vector.AddBlocks4x16, vector.RowWords256, vector.PanelWords256}, true
	}
	return k, false
}
