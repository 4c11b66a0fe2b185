package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/plan"
)

// A planChoice is how flags name the order in which a library adds.
type planChoice struct {
	text    string
	library libraryChoice
}

// planFlagNames are the flags of a planChoice.
var planFlagNames = []string{"plan", "library", "config"}

// flags adds the flags that name a plan.
func (c *planChoice) flags(flags *flag.FlagSet) {
	flags.StringVar(&c.text, "plan", "", "add as this `plan` says: a name of roundoff plan list, a text such as\n'hopper-wgmma-e4m3-binary32 | every 128 > binary16', or what a library makes of a product:\n'cublaslt-13.1 h100 66,0,1,0,0,0,35 64x64x4096 fp16'")
	c.library.flags(flags)
}

// check returns an error unless the flags name one plan. chip reports whether
// -device is given.
func (c *planChoice) check(chip bool) error {
	switch {
	case c.text == "" && c.library.name == "":
		return fmt.Errorf("want -plan, or -library with its -device and -config")
	case c.text != "" && c.library != libraryChoice{}:
		return fmt.Errorf("-plan beside -library or -config, want one of them")
	case c.text == "" && (c.library.config != "") != chip:
		return fmt.Errorf("-library %s, want -device and -config both, or neither", c.library.name)
	}
	return nil
}

// plan returns the plan that the flags name, for a product. chip is what
// -device names.
func (c *planChoice) plan(chip string, of question.PlannedProduct) (question.Plan, error) {
	if c.text != "" {
		return findPlan("plan", c.text, of)
	}
	return findPlan("library", c.library.text(chip), of)
}

// findPlan returns the plan of a name or text that a flag has, for a product.
func findPlan(flag, text string, of question.PlannedProduct) (question.Plan, error) {
	z, err := question.FindPlan(text, of)
	if err != nil {
		return z, fmt.Errorf("-%s %s: %w", flag, question.Quoted(text), err)
	}
	return z, nil
}

// mostSteps is the largest number of accumulators and additions of a plan that
// is computed, and mostTraced of one that is traced.
const (
	mostSteps  = 1 << 20
	mostTraced = 1 << 17
)

// checkPlan returns an error unless the plan can be computed for this many
// elements of k products, without scales.
func checkPlan(p plan.Plan, k, elements, most int) error {
	if length, scaled := p.Scaled(); scaled {
		return fmt.Errorf("-plan %s has scales for every %d products, want a plan without", question.Quoted(p.Name), length)
	}
	return checkSteps("plan", p, k, elements, most)
}

// checkSteps returns an error unless the plan that a flag names can be computed
// for this many elements of k products.
func checkSteps(flag string, p plan.Plan, k, elements, most int) error {
	s := p.Size(k)
	if s.Runs > most || s.Additions > most {
		return fmt.Errorf("-%s %s takes %d accumulators and %d additions for K = %d, want at most %d", flag, question.Quoted(p.Name), s.Runs, s.Additions, k, most)
	}
	if kept := keptSums(p.Order); kept > maxElements/elements {
		return fmt.Errorf("-%s %s keeps %d sums of %d elements, want at most %d", flag, question.Quoted(p.Name), kept, elements, maxElements)
	}
	return nil
}

// keptSums returns how many sums of an element are kept at once.
func keptSums(o plan.Order) int {
	kept := 1
	for {
		p, ok := o.(plan.Parts)
		if !ok {
			return kept
		}
		kept += cmp.Or(slices.Concat(p.Merge.Folds, []int{1})[0], 1)
		o = p.Each
	}
}
