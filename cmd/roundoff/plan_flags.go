package main

import (
	"flag"
	"fmt"

	"github.com/roundofflab/roundoff/internal/question"
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
