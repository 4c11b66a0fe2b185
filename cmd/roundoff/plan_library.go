package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A libraryProduct is a product whose plan is asked for.
type libraryProduct struct {
	shape  library.Shape
	kind   library.Kind
	output tcore.Format // the zero value means that of the library
}

// A chosenPlan is a plan, with what is to be said of it.
type chosenPlan struct {
	plan.Plan
	notes []string
}

// libraryPlan returns the plan of a text such as "cublaslt-13.1 h100
// 66,0,1,0,0,0,35" or "deepgemm-1d2d", for a product whose shape and kind the
// text may end with, as in "… 1x4096x4096 bf16". named is false if the text
// does not begin with the name of a library.
func libraryPlan(text string, of libraryProduct) (z chosenPlan, named bool, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return z, false, nil
	}
	entry, errEntry := library.FindPlan(words[0])
	cublas := strings.HasPrefix(words[0], "cublas")
	if errEntry != nil && !cublas {
		return z, false, nil
	}
	name, words := words[0], words[1:]
	for len(words) > 0 {
		last := words[len(words)-1]
		if kind, err := library.ParseKind(last); err == nil {
			of.kind = kind
		} else if shape, ok := parseShape(last); ok {
			of.shape = shape
		} else {
			break
		}
		words = words[:len(words)-1]
	}
	if errEntry == nil {
		if len(words) > 0 {
			return z, true, fmt.Errorf("%q after %s, want a shape such as 1x4096x4096, a kind such as bf16, or nothing", words[0], name)
		}
		z.Plan, err = entry.Plan(of.shape, of.kind)
		return z, true, withNearest(err)
	}
	if len(words) != 2 {
		return z, true, fmt.Errorf("%d words after %s, want a chip and a configuration, as in h100 66,0,1,0,0,0,35", len(words), name)
	}
	profile, warning, err := library.FindProfile(name, words[0])
	if err != nil {
		return z, true, withNearest(err)
	}
	config, err := library.ParseConfig(words[1])
	if err != nil {
		return z, true, withNearest(err)
	}
	planned, err := profile.PlanWith(of.shape, of.kind, config, library.Options{Output: of.output})
	if err != nil {
		return z, true, withNearest(err)
	}
	z.Plan = planned.Plan
	if warning != "" {
		z.notes = append(z.notes, warning)
	}
	for _, d := range planned.Doubts {
		z.notes = append(z.notes, "not measured: "+withNearest(&d).Error())
	}
	if planned.Suspected != nil {
		z.notes = append(z.notes, planned.Suspected.Note)
	}
	return z, true, nil
}

// withNearest returns the error with what is known nearest.
func withNearest(err error) error {
	var r *library.Refusal
	if !errors.As(err, &r) || r.Nearest == "" || strings.Contains(r.Reason, r.Nearest) {
		return err
	}
	return fmt.Errorf("%w; %s", err, r.Nearest)
}

// parseShape reads M, N and K, as in 1x4096x4096.
func parseShape(text string) (library.Shape, bool) {
	words := strings.Split(text, "x")
	if len(words) != 3 {
		return library.Shape{}, false
	}
	var n [3]int
	for i, w := range words {
		v, err := strconv.Atoi(w)
		if err != nil {
			return library.Shape{}, false
		}
		n[i] = v
	}
	return library.Shape{M: n[0], N: n[1], K: n[2]}, true
}

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
func (q *planQuestion) product() (libraryProduct, error) {
	kind, err := kindOf(q.in)
	return libraryProduct{shape: library.Shape{M: q.m, N: q.n, K: q.k}, kind: kind}, err
}

// plan returns the plan.
func (q *planQuestion) plan() (chosenPlan, error) {
	of, err := q.product()
	if err != nil {
		return chosenPlan{}, err
	}
	return q.planChoice.plan(q.device, of)
}

// kindOf returns the kind of factors of a format.
func kindOf(format string) (library.Kind, error) {
	kinds := []library.Kind{library.FP16, library.BF16, library.FP8, library.FP32}
	i := slices.IndexFunc(kinds, func(k library.Kind) bool { return k.Factors().Name == format })
	if i < 0 {
		return 0, fmt.Errorf("-in %s with -library, want binary16, bfloat16, e4m3 or binary32", format)
	}
	return kinds[i], nil
}
