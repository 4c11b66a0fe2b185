package library

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Place is where an element stands in D, on which the order of OpenBLAS's sums
// depends. Which elements are of which place changes with M and N.
type Place int

const (
	// OneChain is the order of most elements: those of tiles that a kernel computes
	// with one accumulator each.
	OneChain Place = iota
	// TwoChains is that of others, eight rows or columns at an edge: one
	// accumulator for even positions and one for odd ones, of the first 8⌊n/8⌋
	// products of a part; the first one takes the rest.
	TwoChains
)

// An OpenBLASCore is a set of kernels of OpenBLAS, which it chooses when it is
// loaded: by the processor, or by OPENBLAS_CORETYPE.
type OpenBLASCore struct {
	Name     string // as openblas_get_corename returns it
	Measured string // version and conditions

	part int // Q: the most products of a part of K
	unit int // U: a shortened part is a multiple of it
}

// OpenBLASCores returns the cores whose parts of K are known.
func OpenBLASCores() []OpenBLASCore { return slices.Clone(cores) }

var cores = []OpenBLASCore{
	{"Haswell", "OpenBLAS 0.3.21, one thread, alpha = 1, beta = 0", 320, 8},
	{"Zen", "OpenBLAS 0.3.21, one thread, alpha = 1, beta = 0", 320, 8},
}

// FindOpenBLASCore returns the core of a name, of any case. The error names
// those that are known.
func FindOpenBLASCore(name string) (OpenBLASCore, error) {
	var names []string
	for _, c := range cores {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	nearest := "known are the cores " + strings.Join(names, ", ")
	return OpenBLASCore{}, &Refusal{fmt.Sprintf("library: OpenBLAS with core %q: %s", name, nearest), nearest}
}

// Plan returns the plan of sgemm, with alpha = 1 and one thread, for the
// elements of a place of D. K is cut into parts of Q; between Q and 2Q what is
// left is halved, to a multiple of U; every part is added to C, which starts as
// 0 (OpenBLAS 2022). The error names the size or the place that is none, or
// says that the order is known for binary32 only.
func (c OpenBLASCore) Plan(s Shape, k Kind, at Place) (plan.Plan, error) {
	if at != OneChain && at != TwoChains {
		return plan.Plan{}, fmt.Errorf("library: Place(%d), want OneChain or TwoChains", int(at))
	}
	if len(c.Name) == 0 || c.part < 1 || c.unit < 1 {
		return plan.Plan{}, fmt.Errorf("library: a core of OpenBLAS without a name, want one of OpenBLASCores")
	}
	e := openBLAS(at)
	e.order = c.order(at)
	return e.Plan(s, k)
}

// openBLAS returns the entry of the core for Haswell.
func openBLAS(at Place) Entry {
	doc := "OpenBLAS's sgemm with its kernels for Haswell, one thread, alpha = 1"
	if at == TwoChains {
		return Entry{"openblas-sgemm-two-chains", doc + ": elements at edges, with two accumulators by the parity of k", "OpenBLAS 2022", cores[0].order(at)}
	}
	return Entry{"openblas-sgemm", doc + ": elements with one accumulator", "OpenBLAS 2022", cores[0].order(at)}
}

func (c OpenBLASCore) order(at Place) func(Shape, Kind) (plan.Plan, error) {
	return func(s Shape, k Kind) (plan.Plan, error) {
		var part plan.Order = plan.Run{Device: fma(FP32)}
		if at == TwoChains {
			part = plan.Parts{Cut: plan.Cut{Lanes: 2, Vector: 1, Whole: 8}, Each: part, Merge: left}
		}
		cut := plan.Cut{Length: s.K}
		if bounds := c.bounds(s.K); len(bounds) > 0 {
			cut = plan.Cut{At: bounds}
		}
		return plan.Plan{Order: plan.Parts{Cut: cut, Each: part, Merge: fromZero}, Output: tcore.Binary32}, only(FP32, k)
	}
}

// bounds returns where the parts of k products begin, but for the first.
func (c OpenBLASCore) bounds(k int) (bounds []int) {
	for at := 0; k-at > c.part; {
		n := c.part
		if rest := k - at; rest < 2*c.part {
			n = c.unit * ceil(rest/2, c.unit)
		}
		at += n
		bounds = append(bounds, at)
	}
	return bounds
}
