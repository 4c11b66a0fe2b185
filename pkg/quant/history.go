package quant

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// A History keeps the greatest magnitudes of a matrix over some steps, for
// delayed scaling: the scale of a step follows from the steps before it.
type History struct {
	Length int // steps that are kept; TransformerEngine keeps 1024
	amax   []float32
}

// Add records a step. It panics if Length < 1.
func (h *History) Add(x blas32.General) {
	if h.Length < 1 {
		panic(fmt.Sprintf("quant: History: Length = %d, want Length >= 1", h.Length))
	}
	h.amax = append(h.amax, amax(x, 0, x.Rows, 0, x.Cols))
	if len(h.amax) > h.Length {
		h.amax = h.amax[1:]
	}
}

// Amax returns the greatest magnitude of the steps that are kept, 0 before the
// first.
func (h *History) Amax() float32 {
	var greatest float32
	for _, a := range h.amax {
		greatest = max(greatest, a)
	}
	return greatest
}

// Delayed returns the recipe of TransformerEngine for delayed scaling per
// tensor: the inverse scale fl(qmax / amax) / 2^margin for the amax of a
// history, and 1 before its first step. What is greater than the past clips.
func Delayed(f tcore.Format, amax float32, margin int) Recipe {
	r := TransformerEngine(f, PerTensor, false, tcore.Binary32)
	r.Name, r.Scale.Amax, r.Scale.Margin = "te-"+f.Name+"-delayed", amax, margin
	if amax == 0 {
		r.Scale.Amax, r.Scale.Margin = float32(f.Max()), 0 // the inverse scale is 1
	}
	return r
}
