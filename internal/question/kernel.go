package question

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A QuantisedProduct asks for the product of two matrices as a library computes
// it, which quantises them first.
type QuantisedProduct struct {
	Recipe  string // a name, or two, of A and of B
	Kernel  string // which applies the scales; "" for what the recipes ask for
	Device  string // a name, or an architecture; integers need none
	Out     string // the format of D
	Promote int
}

// Find returns the recipes and the kernel, on the device that is named or on
// one of its architecture that takes the scales, if there is one. Without a
// name, the kernel is that of DeepGEMM for scales of blocks along K, that of
// DeepSeek for such integers, as in kernels of Triton, and otherwise one that
// scales finished sums.
func (q QuantisedProduct) Find() (left, right quant.Recipe, k quant.Kernel, err error) {
	if left, right, err = OneOrTwo(q.Recipe, "recipes", FindRecipe); err != nil {
		return left, right, k, err
	}
	out, err := FindFormat(q.Out)
	if err != nil {
		return left, right, k, err
	}
	m, along := tcore.Machine{Promote: q.Promote, Output: out}, shortest(left.Block.Along, right.Block.Along)
	integers, scaled := Integer(left) && Integer(right), false
	if !integers {
		if m.Device, scaled, err = DeviceFor(q.Device, tcore.Binary32.Name, left, right); err != nil {
			return left, right, k, err
		}
		m.Name = m.Device.Name
		if err := m.Check(); err != nil {
			return left, right, k, err
		}
	}
	name := q.Kernel
	switch {
	case name != "":
	case integers && along > 0:
		name = "deepseek"
	case scaled:
		name = "alpha"
	case along > 0:
		name = "deepgemm"
	default:
		name = "epilogue"
	}
	var names []string
	for _, k := range quant.Kernels(m) {
		if k.Name == name {
			if k.Every > 0 && along > 0 {
				k.Every = along
			}
			return left, right, k, nil
		}
		names = append(names, k.Name)
	}
	return left, right, k, fmt.Errorf("-kernel: no kernel %q, want one of %s", name, strings.Join(names, ", "))
}

// shortest returns the smaller of two lengths of blocks, where 0 stands for all
// of K.
func shortest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
