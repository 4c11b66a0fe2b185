package question

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Sweep asks how every bound does on emulated products, with the words and
// the defaults of the flags of roundoff sweep.
type Sweep struct {
	Devices     string `json:"devices"`
	Plans       string `json:"plans"`  // of libraries, with ; between
	Recipe      string `json:"recipe"` // that quantise A and B; "" for none
	Dist        string `json:"dist"`
	M           int    `json:"m"`
	N           int    `json:"n"`
	K           string `json:"k"`
	Seeds       string `json:"seeds"`
	Confidence  string `json:"confidence"`
	PerOutput   bool   `json:"per_output"`
	Told        string `json:"told"`
	Ranges      bool   `json:"ranges"`
	Represented bool   `json:"represented"`
	Bounds      string `json:"bounds"`   // names; "" for all
	Standard    bool   `json:"standard"` // the standard plan, or what of it the arguments that are given name
	Atlas       bool   `json:"atlas"`    // that of the atlas, likewise

	Given func(name string) bool `json:"-"` // whether the argument of a flag is given, and not left as it is
}

// NewSweep returns the question of roundoff sweep without a flag.
func NewSweep() Sweep {
	return Sweep{Devices: "paper,volta,ampere,hopper,hopper-e4m3", Dist: "U(-1,1),U(0,1),U(1,2),N(0,1)", M: 64, N: 8, K: "256,4096",
		Seeds: "1:2", Confidence: "0.99", Told: "distribution", Ranges: true, Given: func(string) bool { return false }}
}

// Check returns an error about the first argument that cannot be meant.
func (q *Sweep) Check() error {
	if q.Standard && q.Atlas {
		return errors.New("-standard and -atlas are two plans, want one of them")
	}
	for _, name := range []string{"plans", "m", "n", "confidence", "per-output", "represented", "ranges", "bounds", "told", "recipe"} {
		if q.Named() != "" && q.Given(name) && (name != "told" || q.Atlas) && (name != "recipe" || q.Standard) {
			return fmt.Errorf("-%s with -%s, which has its own", name, q.Named())
		}
	}
	return CheckSizes(MostDrawn, Size{"m", q.M}, Size{"n", q.N})
}

// Named returns the flag of the plan that has its own arguments, "" if they are
// given one by one.
func (q *Sweep) Named() string {
	switch {
	case q.Standard:
		return "standard"
	case q.Atlas:
		return "atlas"
	}
	return ""
}

// Results returns the plans of the sweep, one or those of the standard plan,
// and the command that asks for them, in one form whatever that of the
// question.
func (q *Sweep) Results() (plans []sweep.Plan, command string, err error) {
	if err := q.Check(); err != nil {
		return nil, "", err
	}
	p, err := q.plan()
	if err != nil {
		return nil, "", err
	}
	plans = []sweep.Plan{p}
	if q.Named() != "" {
		plans, err = q.named(p)
	} else {
		_, err = p.Units()
	}
	return plans, q.command(p), err
}

// Part returns the plans of the sweep and a part that has nothing yet of a
// shard of it, by this version.
func (q *Sweep) Part(shard sweep.Shard) (plans []sweep.Plan, part sweep.Part, err error) {
	plans, command, err := q.Results()
	part = sweep.Part{File: "the sweep asked for", Version: Version(), Command: command, Shard: shard}
	for _, p := range plans {
		part.Plans = append(part.Plans, p.Grid())
	}
	return plans, part, err
}

// plan returns what the arguments tell, but for Standard and Atlas.
func (q *Sweep) plan() (p sweep.Plan, err error) {
	p = sweep.Plan{M: q.M, N: q.N, PerOutput: q.PerOutput, Ranges: q.Ranges, Represented: q.Represented, Predict: true}
	if q.Devices != "" || q.Plans == "" {
		if p.Machines, err = Each(q.Devices, sweep.FindMachine); err != nil {
			return p, err
		}
	}
	for text := range strings.SplitSeq(q.Plans, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		o, err := FindPlan(text, PlannedProduct{})
		if err != nil {
			return p, fmt.Errorf("-plans %s: %w", Quoted(text), err)
		}
		o.Name = o.String() // by which a case that fails is repeated
		p.Orders = append(p.Orders, o.Plan)
	}
	if q.Recipe != "" {
		if p.Recipes, err = Each(q.Recipe, sweep.FindRecipes); err != nil {
			return p, err
		}
	}
	if p.Data, err = Each(q.Dist, sweep.FindGenerator); err != nil {
		return p, err
	}
	if p.Ks, err = Each(q.K, func(word string) (int, error) {
		k, err := strconv.Atoi(word)
		if err != nil || k < 1 {
			return 0, fmt.Errorf("-k %s, want numbers of 1 or more", word)
		}
		return k, CheckMatrices(MostDrawn, q.M, q.N, k)
	}); err != nil {
		return p, err
	}
	if p.Confidences, err = Each(q.Confidence, func(word string) (float64, error) {
		c, err := strconv.ParseFloat(word, 64)
		if err != nil || !(0 < c && c < 1) {
			return 0, fmt.Errorf("-confidence %s, want numbers between 0 and 1", word)
		}
		return c, nil
	}); err != nil {
		return p, err
	}
	if p.Seeds, err = sweep.ParseSeeds(q.Seeds); err != nil {
		return p, err
	}
	if p.Told, err = Each(q.Told, sweep.ParseTold); err != nil {
		return p, err
	}
	if q.Bounds != "" {
		if p.Bounds, err = Each(q.Bounds, findBound); err != nil {
			return p, err
		}
	}
	return p, errors.Join(
		once("k", p.Ks, strconv.Itoa),
		once("devices", p.Machines, machineName),
		once("recipe", p.Recipes, sweep.NameRecipes),
		once("dist", p.Data, dataName),
		once("bounds", p.Bounds, boundName),
		once("confidence", p.Confidences, confidenceText))
}

func machineName(m tcore.Machine) string { return m.Name }

func dataName(l sweep.Generator) string { return l.Name }

func boundName(b bound.Bound) string { return b.Name }

// findBound returns the bound of that name.
func findBound(name string) (bound.Bound, error) {
	b, ok := bound.Find(name)
	if !ok {
		return b, fmt.Errorf("-bounds: no bound %q, see roundoff bound", name)
	}
	return b, nil
}

func confidenceText(c float64) string { return fmt.Sprint(c) }

// once returns an error that names the first repeated value of a flag.
func once[T any](name string, values []T, word func(T) string) error {
	seen := map[string]bool{}
	for _, v := range values {
		w := word(v)
		if seen[w] {
			return fmt.Errorf("-%s names %s twice", name, w)
		}
		seen[w] = true
	}
	return nil
}

// named returns the parts of the plan that is named, restricted to the
// machines, recipes, distributions and Ks that are given.
func (q *Sweep) named(of sweep.Plan) (plans []sweep.Plan, err error) {
	whole := sweep.Standard(of.Seeds, of.Told...)
	if q.Atlas {
		whole = sweep.Atlas(of.Seeds)
	}
	for _, p := range whole {
		if q.Given("devices") {
			p.Machines = common(p.Machines, of.Machines, func(m tcore.Machine) string { return m.Device.Name })
		}
		if q.Given("recipe") {
			if p.Recipes = common(p.Recipes, of.Recipes, sweep.NameRecipes); p.Recipes == nil {
				continue
			}
		}
		if q.Given("dist") {
			p.Data = common(p.Data, of.Data, dataName)
		}
		if q.Given("k") {
			p.Ks = common(p.Ks, of.Ks, strconv.Itoa)
		}
		if units, err := p.Units(); err == nil && units > 0 && len(p.Data) > 0 && len(p.Ks) > 0 {
			plans = append(plans, p)
		}
	}
	if plans == nil {
		return nil, fmt.Errorf("nothing of that is in the %s plan", q.Named())
	}
	return plans, nil
}

// common returns the elements of list whose names occur in other.
func common[T any](list, other []T, name func(T) string) (both []T) {
	for _, x := range list {
		if slices.ContainsFunc(other, func(y T) bool { return name(x) == name(y) }) {
			both = append(both, x)
		}
	}
	return both
}

// StandardCommand and AtlasCommand begin the commands of the plans that are
// named.
const StandardCommand, AtlasCommand = "roundoff sweep -standard", "roundoff sweep -atlas"

// command returns the command that sweeps a plan, or the plan that is named
// restricted by it.
func (q *Sweep) command(p sweep.Plan) string {
	var b strings.Builder
	begins, without := "roundoff sweep", NewSweep()
	if q.Named() != "" {
		begins += " -" + q.Named()
	}
	b.WriteString(begins)
	for _, f := range []struct {
		name, value, without string
		standard             bool // it restricts a plan that is named, if given
	}{
		{"devices", Names(p.Machines, ",", machineName), without.Devices, true},
		{"plans", Names(p.Orders, ";", func(o plan.Plan) string { return o.Name }), without.Plans, false},
		{"recipe", Names(p.Recipes, ",", sweep.NameRecipes), without.Recipe, true},
		{"dist", Names(p.Data, ",", dataName), without.Dist, true},
		{"m", strconv.Itoa(p.M), strconv.Itoa(without.M), false},
		{"n", strconv.Itoa(p.N), strconv.Itoa(without.N), false},
		{"k", Names(p.Ks, ",", strconv.Itoa), without.K, true},
		{"seeds", sweep.FormatSeeds(p.Seeds), "", true},
		{"confidence", Names(p.Confidences, ",", confidenceText), without.Confidence, false},
		{"per-output", strconv.FormatBool(p.PerOutput), strconv.FormatBool(without.PerOutput), false},
		{"told", Names(p.Told, ",", sweep.Told.String), without.Told, true},
		{"ranges", strconv.FormatBool(p.Ranges), strconv.FormatBool(without.Ranges), false},
		{"represented", strconv.FormatBool(p.Represented), strconv.FormatBool(without.Represented), false},
		{"bounds", Names(p.Bounds, ",", boundName), without.Bounds, false},
	} {
		restricts := f.name == "devices" || f.name == "recipe" || f.name == "dist" || f.name == "k"
		switch {
		case q.Named() != "" && (!f.standard || restricts && !q.Given(f.name)), f.value == f.without:
		case f.value == "true" || f.value == "false":
			fmt.Fprintf(&b, " -%s=%s", f.name, f.value)
		case strings.ContainsAny(f.value, "()<>*;|×±+ ") || f.value == "":
			fmt.Fprintf(&b, " -%s '%s'", f.name, f.value)
		default:
			fmt.Fprintf(&b, " -%s %s", f.name, f.value)
		}
	}
	return b.String()
}

// Names joins the names of a list.
func Names[T any](list []T, between string, name func(T) string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = name(x)
	}
	return strings.Join(words, between)
}

// Shards returns into how many shards a sweep is best divided: so many that
// each takes about a minute of a core, by what products were measured to cost,
// and of that many or somewhat more a prime number that divides no number of
// seeds or Ks. Shard I of N has the draws I, I + N, …, the seeds of a K one
// after another: if N were a multiple of these, a shard could have the longest
// K alone. Of few draws each is a shard.
func Shards(plans []sweep.Plan) int {
	const (
		fewest, most = 29, 1_000_000
		// In seconds, of a core of 2026 with AVX2.
		minute, perUnit, perOutput, perProduct = 60, 1e-3, 5e-5, 1e-7
	)
	draws, seconds := 0, 0.0
	divides := func(n int) bool { return false }
	for _, p := range plans {
		g := p.Grid()
		draws += g.Draws()
		units, _ := p.Units() // no shards of what cannot be swept
		each := float64(len(p.Data)) * float64(len(p.Seeds)) * float64(units)
		for _, k := range p.Ks {
			outputs := float64(p.M) * float64(p.N)
			seconds += each * (perUnit + outputs*(perOutput+perProduct*float64(k)))
		}
		before := divides
		divides = func(n int) bool { return before(n) || len(g.Seeds)%n == 0 || len(g.Ks)%n == 0 }
	}
	n := max(fewest, int(min(seconds/minute, most/2)))
	if draws <= n {
		return cmp.Or(draws, 1)
	}
	for !prime(n) || divides(n) {
		n++
	}
	return min(n, draws)
}

// prime reports whether n, 2 or more, is a prime number.
func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}
