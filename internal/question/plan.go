package question

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A PlannedProduct is a product whose plan a library is asked for.
type PlannedProduct struct {
	Shape  library.Shape
	Kind   library.Kind
	Output tcore.Format // the zero value means that of the library
}

// A Plan is a plan of a library, with what is to be said of it.
type Plan struct {
	plan.Plan
	Notes []string
}

// FindPlan returns the plan of a name of [plan.Forms], of a text that
// [plan.Parse] reads, or of a text that names a library, for a product: see
// libraryPlan.
func FindPlan(text string, of PlannedProduct) (Plan, error) {
	forms := plan.Forms()
	if i := slices.IndexFunc(forms, func(p plan.Plan) bool { return p.Name == text }); i >= 0 {
		return Plan{Plan: forms[i]}, nil
	}
	z, named, err := libraryPlan(text, of)
	if err != nil {
		return z, errors.New(strings.TrimPrefix(err.Error(), "library: "))
	}
	if named {
		return z, nil
	}
	p, err := plan.Parse(text)
	if err != nil {
		return z, fmt.Errorf("%s; roundoff plan list has names and texts", strings.TrimPrefix(err.Error(), "plan: "))
	}
	return Plan{Plan: p}, nil
}

// libraryPlan returns the plan of a text such as "cublaslt-13.1 h100
// 66,0,1,0,0,0,35" or "deepgemm-1d2d", for a product whose shape and kind the
// text may end with, as in "… 1x4096x4096 bf16". named is false if the text
// does not begin with the name of a library.
func libraryPlan(text string, of PlannedProduct) (z Plan, named bool, err error) {
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
			of.Kind = kind
		} else if shape, ok := ParseShape(last); ok {
			of.Shape = shape
		} else {
			break
		}
		words = words[:len(words)-1]
	}
	if errEntry == nil {
		if len(words) > 0 {
			return z, true, fmt.Errorf("%q after %s, want a shape such as 1x4096x4096, a kind such as bf16, or nothing", words[0], name)
		}
		z.Plan, err = entry.Plan(of.Shape, of.Kind)
		return z, true, WithNearest(err)
	}
	if len(words) != 2 {
		return z, true, fmt.Errorf("%d words after %s, want a chip and a configuration, as in h100 66,0,1,0,0,0,35", len(words), name)
	}
	profile, warning, err := library.FindProfile(name, words[0])
	if err != nil {
		return z, true, WithNearest(err)
	}
	config, err := library.ParseConfig(words[1])
	if err != nil {
		return z, true, WithNearest(err)
	}
	planned, err := profile.PlanWith(of.Shape, of.Kind, config, library.Options{Output: of.Output})
	if err != nil {
		return z, true, WithNearest(err)
	}
	z.Plan = planned.Plan
	if warning != "" {
		z.Notes = append(z.Notes, warning)
	}
	for _, d := range planned.Doubts {
		z.Notes = append(z.Notes, "not measured: "+WithNearest(&d).Error())
	}
	if planned.Suspected != nil {
		z.Notes = append(z.Notes, planned.Suspected.Note)
	}
	return z, true, nil
}

// WithNearest returns the error with what is known nearest.
func WithNearest(err error) error {
	var r *library.Refusal
	if !errors.As(err, &r) || r.Nearest == "" || strings.Contains(r.Reason, r.Nearest) {
		return err
	}
	return fmt.Errorf("%w; %s", err, r.Nearest)
}

// ParseShape reads M, N and K, as in 1x4096x4096.
func ParseShape(text string) (library.Shape, bool) {
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

// FindKind returns the kind of factors of a format.
func FindKind(format string) (library.Kind, error) {
	kinds := []library.Kind{library.FP16, library.BF16, library.FP8, library.FP32}
	i := slices.IndexFunc(kinds, func(k library.Kind) bool { return k.Factors().Name == format })
	if i < 0 {
		return 0, fmt.Errorf("-in %s with -library, want binary16, bfloat16, e4m3 or binary32", format)
	}
	return kinds[i], nil
}

// Quoted returns the text in quotes, of a long one the beginning.
func Quoted(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", text)
}

// MostSteps is the largest number of accumulators and additions of a plan that
// is computed, and MostTraced of one that is traced.
const (
	MostSteps  = 1 << 20
	MostTraced = 1 << 17
)

// CheckPlan returns an error unless the plan can be computed for this many
// elements of k products, without scales.
func CheckPlan(p plan.Plan, k, elements, most int) error {
	if length, scaled := p.Scaled(); scaled {
		return fmt.Errorf("-plan %s has scales for every %d products, want a plan without", Quoted(p.Name), length)
	}
	return CheckSteps("plan", p, k, elements, most)
}

// CheckSteps returns an error unless the plan that a flag names can be computed
// for this many elements of k products.
func CheckSteps(flag string, p plan.Plan, k, elements, most int) error {
	s := p.Size(k)
	if s.Runs > most || s.Additions > most {
		return fmt.Errorf("-%s %s takes %d accumulators and %d additions for K = %d, want at most %d", flag, Quoted(p.Name), s.Runs, s.Additions, k, most)
	}
	if kept := keptSums(p.Order); kept > MostElements/elements {
		return fmt.Errorf("-%s %s keeps %d sums of %d elements, want at most %d", flag, Quoted(p.Name), kept, elements, MostElements)
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
