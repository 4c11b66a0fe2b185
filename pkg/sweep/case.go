package sweep

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Case is a plan with one machine, one distribution, one size and one
// confidence, given by their names. It has one product for each seed.
type Case struct {
	Machine, Data string
	Recipe        string // see [FindRecipes]; "" for none
	M, N, K       int
	Seeds         []uint64
	Confidence    float64
	PerOutput     bool // the confidence is that of each output
	Told          Told
	Represented   bool
}

// CaseOf returns the case whose sweep contains the row.
func CaseOf(r Row) Case {
	return Case{r.Machine, r.Data, r.Recipe, r.M, r.N, r.K, r.Seeds, r.Confidence, r.PerOutput, r.Told, r.Represented && r.Recipe == ""}
}

// plan returns the plan of the case. An error says that no machine,
// distribution or recipe has that name.
func (t Case) plan() (Plan, error) {
	machines, orders, err := t.unit()
	if err != nil {
		return Plan{}, err
	}
	var recipes []bound.Recipes
	if t.Recipe != "" {
		r, err := FindRecipes(t.Recipe)
		if err != nil {
			return Plan{}, err
		}
		recipes = []bound.Recipes{r}
	}
	data, err := FindGenerator(t.Data)
	return Plan{
		Machines: machines, Orders: orders, Recipes: recipes, Data: []Generator{data}, M: t.M, N: t.N, Ks: []int{t.K}, Seeds: t.Seeds,
		Confidences: []float64{cmp.Or(t.Confidence, 0.99)}, PerOutput: t.PerOutput, Told: []Told{t.Told}, Ranges: true, Represented: t.Represented,
	}, err
}

// unit returns the machine of the case, or the order, which has its text for a
// name.
func (t Case) unit() ([]tcore.Machine, []plan.Plan, error) {
	machine, err := FindMachine(t.Machine)
	if err == nil {
		return []tcore.Machine{machine}, nil, nil
	}
	order, errOrder := plan.Parse(t.Machine)
	if errOrder != nil {
		return nil, nil, err
	}
	order.Name = t.Machine
	return nil, []plan.Plan{order}, nil
}

// String returns the roundoff command that repeats the case. The command fails
// if a bound that is claimed for the case is violated.
func (t Case) String() string {
	var s strings.Builder
	which := "-devices " + quoted(t.Machine)
	if _, orders, err := t.unit(); err == nil && orders != nil {
		which = "-devices '' -plans " + quoted(t.Machine)
	}
	fmt.Fprintf(&s, "roundoff sweep %s -dist %s -m %d -n %d -k %d -seeds %s", which, quoted(t.Data), t.M, t.N, t.K, FormatSeeds(t.Seeds))
	if t.Recipe != "" {
		fmt.Fprintf(&s, " -recipe %s", t.Recipe)
	}
	if t.Confidence != 0.99 && t.Confidence != 0 {
		fmt.Fprintf(&s, " -confidence %v", t.Confidence)
	}
	if t.PerOutput {
		s.WriteString(" -per-output")
	}
	if t.Told != FromDistribution {
		fmt.Fprintf(&s, " -told %v", t.Told)
	}
	if t.Represented {
		s.WriteString(" -represented")
	}
	return s.String()
}

// quoted returns a word quoted for a shell where it must be.
func quoted(word string) string {
	if strings.ContainsAny(word, "()<>*, ×±") {
		return "'" + word + "'"
	}
	return word
}

// run returns the rows of the case.
func (t Case) run(ctx context.Context) ([]Row, error) {
	p, err := t.plan()
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, nil)
}

// violates reports whether the bound is claimed for the case and is violated,
// beyond chance if it is probabilistic.
func (t Case) violates(ctx context.Context, bound string) bool {
	rows, err := t.run(ctx)
	if err != nil {
		return false
	}
	for _, r := range Violated(rows, Sure) {
		if r.Bound == bound {
			return true
		}
	}
	return false
}

// smaller returns cases that are simpler than t in one respect, the simplest
// first.
func (t Case) smaller() (all []Case) {
	add := func(change func(*Case)) {
		z := t
		if change(&z); fmt.Sprint(z) != fmt.Sprint(t) {
			all = append(all, z)
		}
	}
	base, _, _ := strings.Cut(t.Machine, ">")
	add(func(z *Case) { z.Machine = base })
	base, _, _ = strings.Cut(t.Machine, "/")
	add(func(z *Case) { z.Machine = base })
	add(func(z *Case) { z.Recipe = "" })
	add(func(z *Case) { z.Represented = false })
	add(func(z *Case) { z.Told = FromDistribution })
	add(func(z *Case) { z.Confidence = 0.99 })
	for _, data := range []string{"U(0,1)", "U(-1,1)", "U(1,2)", "N(0,1)"} {
		if data == t.Data {
			break
		}
		add(func(z *Case) { z.Data = data })
	}
	for _, k := range []int{1, 2, 3, 4, 8, 16, t.K / 4, t.K / 2, t.K * 3 / 4, t.K - 1} {
		if 0 < k && k < t.K {
			add(func(z *Case) { z.K = k })
		}
	}
	for _, m := range []int{1, 2, 4, t.M / 2} {
		if 0 < m && m < t.M {
			add(func(z *Case) { z.M = m })
		}
		if 0 < m && m < t.N {
			add(func(z *Case) { z.N = m })
		}
	}
	for _, n := range []int{1, 2, len(t.Seeds) / 2} {
		if 0 < n && n < len(t.Seeds) {
			add(func(z *Case) { z.Seeds = t.Seeds[:n] })
		}
	}
	return all
}

// minimal returns a simpler case in which the bound, which fails in t, still
// fails. It tries at most the given number of cases, one a step.
func (t Case) minimal(ctx context.Context, bound string, steps int) Case {
	for from, unchanged := 0, 0; ; {
		all := t.smaller()
		if unchanged >= len(all) || steps == 0 {
			return t
		}
		from %= len(all)
		if z := all[from]; z.violates(ctx, bound) {
			t, unchanged = z, 0
		} else {
			from, unchanged = from+1, unchanged+1
		}
		steps--
	}
}
