package library

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
)

// An Entry is an order of summation that a library other than cuBLASLt is known
// to use.
type Entry struct {
	Name   string
	Doc    string // what is known, and under which conditions
	Source string // where from, as in REFERENCES.md

	// order returns the plan for a product, without Name and Doc.
	order func(Shape, Kind) (plan.Plan, error)
}

// Plan returns the plan for a product of factors of a kind. The error is a
// [Refusal] that says what is known nearest, or says that a size is none.
func (e Entry) Plan(s Shape, k Kind) (plan.Plan, error) {
	if err := s.Check(); err != nil {
		return plan.Plan{}, err
	}
	if !k.known() {
		return plan.Plan{}, fmt.Errorf("library: %v, want a constant of package library", k)
	}
	p, err := e.order(s, k)
	if err != nil {
		return plan.Plan{}, err
	}
	p.Name, p.Doc = e.Name, fmt.Sprintf("%s (%s)", e.Doc, e.Source)
	return p, nil
}

// Plans returns the orders of other libraries, and last those of which no order
// is known well enough: their Plan is always a [Refusal].
func Plans() []Entry {
	return slices.Concat(
		[]Entry{deepGEMM1D2D, deepGEMM1D1D, deepSeekV3, promoted(4), cutlassFast, cutlassScaled, cutlassScaledTwice, transformerEngineSplit, transformerEngineFast},
		[]Entry{openBLAS(OneChain), openBLAS(TwoChains), numPySum},
		unknown,
	)
}

// FindPlan returns the entry of a name. The error names all.
func FindPlan(name string) (Entry, error) {
	var names []string
	for _, e := range Plans() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, &Refusal{fmt.Sprintf("library: no plan %q: known are %s", name, strings.Join(names, ", ")), "known are " + strings.Join(names, ", ")}
}

// only returns a refusal unless the kind is the one that an order is known for.
func only(want, got Kind) error {
	if got == want {
		return nil
	}
	return &Refusal{fmt.Sprintf("library: factors of %v, known with %v only", got, want), want.String()}
}

// unknown are orders of which too little is known.
var unknown = []Entry{
	refused("deepgemm-sm100", "DeepGEMM on Blackwell: scales of e8m0 in the instruction, one accumulator over all of K", "DeepGEMM 2025",
		"library: DeepGEMM on sm_100 is one block-scaled instruction after the other, which plans do not have", "device blackwell-tcgen05-mxe4m3-binary32 of package devices"),
	refused("cutlass-stream-k", "CUTLASS's stream-K: units of equally many iterations over K, whose cuts differ from tile to tile", "NVIDIA, CUTLASS",
		"library: the cuts of stream-K depend on the tile and on the number of processors", "plan.Cut with At, if the cuts of an element are known"),
	refused("hipblaslt-stream-k", "hipBLASLt: the merge of stream-K is linear, a tree or a kernel of its own, and K may start elsewhere", "rocm-libraries 2026",
		"library: hipBLASLt chooses the merge for each problem on the host, and its trees are in the generator of its kernels only", "ask it: roundoff infer --order"),
}

func refused(name, doc, source, reason, nearest string) Entry {
	return Entry{name, doc, source, func(Shape, Kind) (plan.Plan, error) { return plan.Plan{}, &Refusal{reason, nearest} }}
}
