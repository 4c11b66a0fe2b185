package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
)

// A planChoice is how flags name the order in which a library adds.
type planChoice struct {
	text string
}

// planFlagNames are the flags of a planChoice.
var planFlagNames = []string{"plan"}

// flags adds the flags that name a plan.
func (c *planChoice) flags(flags *flag.FlagSet) {
	flags.StringVar(&c.text, "plan", "", "add as this `plan` says: a name of roundoff plan list, or a text such as\n'hopper-wgmma-e4m3-binary32 | every 128 > binary16'")
}

// plan returns the plan that the flags name.
func (c *planChoice) plan() (plan.Plan, error) { return findPlan("plan", c.text) }

// findPlan returns the plan of a name or text that a flag has.
func findPlan(flag, text string) (plan.Plan, error) {
	forms := plan.Forms()
	if i := slices.IndexFunc(forms, func(p plan.Plan) bool { return p.Name == text }); i >= 0 {
		return forms[i], nil
	}
	p, err := plan.Parse(text)
	if err != nil {
		return p, fmt.Errorf("-%s %s: %v; roundoff plan list has names and texts", flag, quoted(text), strings.TrimPrefix(err.Error(), "plan: "))
	}
	return p, nil
}

// quoted returns the text in quotes, of a long one the beginning.
func quoted(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", text)
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
		return fmt.Errorf("-plan %s has scales for every %d products, want a plan without", quoted(p.Name), length)
	}
	return checkSteps("plan", p, k, elements, most)
}

// checkSteps returns an error unless the plan that a flag names can be computed
// for this many elements of k products.
func checkSteps(flag string, p plan.Plan, k, elements, most int) error {
	s := p.Size(k)
	if s.Runs > most || s.Additions > most {
		return fmt.Errorf("-%s %s takes %d accumulators and %d additions for K = %d, want at most %d", flag, quoted(p.Name), s.Runs, s.Additions, k, most)
	}
	if kept := keptSums(p.Order); kept > maxElements/elements {
		return fmt.Errorf("-%s %s keeps %d sums of %d elements, want at most %d", flag, quoted(p.Name), kept, elements, maxElements)
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
