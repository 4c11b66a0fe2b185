package library

import "fmt"

// A Constraint is an option of a program that calls cuBLASLt. It chooses no
// order by itself, but which configurations may be answered.
type Constraint struct {
	Name   string
	Doc    string
	Source string

	schemes map[int]bool // of splits; nil allows all
	splits  bool
}

// PyTorchReduction returns what PyTorch's option
// allow_fp16_reduced_precision_reduction, or that of bf16, allows: by default
// (true, true) every merge of slices, with reduced = false merges of slices in
// binary32, and with splitK = false too no split of K at all. Before May 2025
// the option had no effect on cuBLASLt (PyTorch, pull request 153095).
func PyTorchReduction(reduced, splitK bool) (Constraint, error) {
	c := Constraint{Source: "PyTorch, pull requests 153095 and 164766", splits: splitK}
	switch {
	case reduced && splitK:
		c.Name, c.Doc = "pytorch-reduced", "PyTorch's default: any merge of slices"
	case reduced:
		return Constraint{}, &Refusal{"library: nothing is known of PyTorch's option (true, false)", "(false, false), without a split of K"}
	case splitK:
		c.Name, c.Doc, c.schemes = "pytorch-full", "PyTorch without reduced precision reductions: slices are merged in binary32", map[int]bool{2: true}
	default:
		c.Name, c.Doc, c.schemes = "pytorch-full-no-split", "PyTorch without reduced precision reductions and split K", map[int]bool{}
	}
	return c, nil
}

// Allows returns a [Refusal] unless the constraint allows the configuration.
func (c Constraint) Allows(config Config) error {
	n, scheme := config.splits(), config.ReductionScheme
	switch {
	case n == 1 || c.splits && c.schemes == nil:
		return nil
	case !c.splits:
		return &Refusal{fmt.Sprintf("library: SPLITK_NUM %d, which %s does not allow", n, c.Name), "SPLITK_NUM 1"}
	case scheme.Known && c.schemes[scheme.Value]:
		return nil
	}
	return &Refusal{fmt.Sprintf("library: REDUCTION_SCHEME %v of %d slices, which %s does not allow", scheme, n, c.Name), "REDUCTION_SCHEME 2, slices of binary32"}
}
