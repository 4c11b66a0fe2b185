package bound

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Recipes are those by which A and B are quantised: each becomes codes of the
// format of the device, and scales.
//
// A block-scaled device takes scales of its own format, of blocks as long as
// its own, and scales of the whole matrix multiply finished sums, as
// [quant.AlphaKernel] does. On other devices a row of A, or all of it, has one
// scale, as has a column of B, and all scales multiply finished sums, as
// [quant.EpilogueKernel] does. Or blocks along K have scales, Promote divides
// their lengths, and the sum of each Promote products is multiplied by its
// scales and added in binary32: with an FMA, as in [quant.DeepGEMMKernel], or
// without, as in [quant.DeepSeekKernel].
type Recipes struct{ A, B quant.Recipe }

// String returns the name of the recipe, or both names.
func (r *Recipes) String() string {
	if r.A.Name == r.B.Name {
		return r.A.Name
	}
	return r.A.Name + ", " + r.B.Name
}

// NaturalRecipes returns the recipes of a block-scaled device that need no
// scale of the whole matrix: floor scales, those of the OCP specification, if
// its scales are of e8m0, and for those of e4m3 the recipe of torchao for NVFP4
// of one level. It returns false for a device that takes no scales, or others.
func NaturalRecipes(d tcore.Device) (*Recipes, bool) {
	of := func(f tcore.Format) quant.Recipe {
		if d.Scale.Equal(tcore.E8M0) {
			r := quant.MX(f, quant.FloorScale)
			if r.Block.Along != d.ScaleBlock {
				r.Name = fmt.Sprintf("%s-1x%d", r.Name, d.ScaleBlock)
				r.Block.Along = d.ScaleBlock
			}
			return r
		}
		return quant.TorchaoNVFP4(false)
	}
	if d.ScaleBlock == 0 {
		return nil, false
	}
	r := &Recipes{of(d.A), of(d.B)}
	return r, r.refuses(tcore.Machine{Device: d}) == ""
}

// refuses returns why the machine cannot multiply what the recipes make, or "".
func (r *Recipes) refuses(m tcore.Machine) string {
	d := m.Device
	for _, of := range []struct {
		quant.Recipe
		format tcore.Format
	}{{r.A, d.A}, {r.B, d.B}} {
		block := quant.Block{Along: d.ScaleBlock, Across: 1}
		switch {
		case !of.Element.Equal(of.format):
			return fmt.Sprintf("recipe %s makes %s, %s takes %s", of.Name, of.Element.Name, d.Name, of.format.Name)
		case d.ScaleBlock > 0 && (!of.Scale.Stored.Equal(d.Scale) || of.Block != block):
			return fmt.Sprintf("recipe %s has scales in %s of blocks %v, %s takes them in %s of %v",
				of.Name, of.Scale.Stored.Name, of.Block, d.Name, d.Scale.Name, block)
		case d.ScaleBlock == 0 && of.Tensor != nil:
			return fmt.Sprintf("recipe %s has scales within a sum and of the tensor, %s takes none: no bound is known of kernels that apply them", of.Name, d.Name)
		case d.ScaleBlock == 0 && of.Block.Along > 0 && (m.Promote == 0 || of.Block.Along%m.Promote != 0):
			return fmt.Sprintf("recipe %s has scales within a sum, %s takes none: no bound is known of kernels that apply them, unless Promote divides %d",
				of.Name, d.Name, of.Block.Along)
		case of.Stochastic.Bits > 0 && of.Second != nil:
			return fmt.Sprintf("recipe %s chooses scales by errors that are random", of.Name)
		}
	}
	return ""
}

// outside reports whether sums are multiplied by scales that a device does not
// take, where scaled says whether it takes those of blocks.
func (r *Recipes) outside(scaled bool) bool {
	return !scaled || r.A.Tensor != nil || r.B.Tensor != nil
}

// within reports whether scales within a sum are applied outside of the device,
// where scaled says whether that takes those of blocks.
func (r *Recipes) within(scaled bool) bool {
	return !scaled && (r.A.Block.Along > 0 || r.B.Block.Along > 0)
}

// ofRows reports whether whole rows of A or columns of B have a scale, so that
// what quantisation loses has to be found anew for each K.
func (r *Recipes) ofRows() bool { return r.A.Block.Along == 0 || r.B.Block.Along == 0 }

// stochastic reports whether A or B is rounded at random.
func (r *Recipes) stochastic() bool { return r.A.Stochastic.Bits > 0 || r.B.Stochastic.Bits > 0 }
