package main

import (
	"flag"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
)

// A libraryChoice is how flags name a library and its configuration.
type libraryChoice struct{ name, config string }

func (c *libraryChoice) flags(flags *flag.FlagSet) {
	flags.StringVar(&c.name, "library", "", "add as this `library` does, as in cublaslt-13.1 or a name of roundoff plan list")
	flags.StringVar(&c.config, "config", "", "with -library cublaslt and its -device, the nine `numbers` of its configuration, as in 66,0,1,0,0,0,35")
}

// text returns what -plan has for the flags, with the chip that -device names.
func (c *libraryChoice) text(chip string) string {
	if c.config == "" {
		return c.name
	}
	return strings.Join([]string{c.name, chip, strings.ReplaceAll(c.config, " ", "")}, " ")
}

// A planQuestion is how the flags of a command without matrices name a plan: of
// a product M × K × N of factors of a format.
type planQuestion struct {
	planChoice
	device, in string
	m, n, k    int
}

func (q *planQuestion) flags(flags *flag.FlagSet) {
	q.planChoice.flags(flags)
	flags.StringVar(&q.device, "device", "", "with -library cublaslt, its `chip`, as in h100")
	flags.StringVar(&q.in, "in", "binary16", "with a library, factors of this `format`: binary16, bfloat16, e4m3 or binary32")
	flags.IntVar(&q.m, "m", 4096, "with a library, this `number` of rows of D")
	flags.IntVar(&q.n, "n", 4096, "with a library, this `number` of columns of D")
	flags.IntVar(&q.k, "k", 4096, "sums of this `number` of products")
}

// check returns errUsage, after reporting what is wrong, unless the flags name
// one plan.
func (q *planQuestion) check(flags *flag.FlagSet, words []string, most int) error {
	if len(words) > 0 {
		return misuse(flags, "%q given, want flags alone", words[0])
	}
	if err := q.planChoice.check(q.device != ""); err != nil {
		return misuse(flags, "%v", err)
	}
	return checkSizes(flags, most, question.Size{Name: "m", Value: q.m}, question.Size{Name: "n", Value: q.n}, question.Size{Name: "k", Value: q.k})
}

// product returns the product that a library is asked about.
func (q *planQuestion) product() (question.PlannedProduct, error) {
	kind, err := question.FindKind(q.in)
	return question.PlannedProduct{Shape: library.Shape{M: q.m, N: q.n, K: q.k}, Kind: kind}, err
}

// plan returns the plan.
func (q *planQuestion) plan() (question.Plan, error) {
	of, err := q.product()
	if err != nil {
		return question.Plan{}, err
	}
	return q.planChoice.plan(q.device, of)
}
