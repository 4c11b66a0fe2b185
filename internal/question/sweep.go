package question

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Sweep asks how every bound does on emulated products, with the words and
// the defaults of the flags of roundoff sweep.
type Sweep struct {
	Devices     string `json:"devices"`
	Plans       string `json:"plans"` // of libraries, with ; between
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
	Standard    bool   `json:"standard"` // the standard plan, or what of it the arguments that are given name

	Given func(name string) bool `json:"-"` // whether the argument of a flag is given, and not left as it is
}

// NewSweep returns the question of roundoff sweep without a flag.
func NewSweep() Sweep {
	return Sweep{Devices: "paper,volta,ampere,hopper,hopper-e4m3", Dist: "U(-1,1),U(0,1),U(1,2),N(0,1)", M: 64, N: 8, K: "256,4096",
		Seeds: "1:2", Confidence: "0.99", Told: "distribution", Ranges: true, Given: func(string) bool { return false }}
}

// Check returns an error about the first argument that cannot be meant.
func (q *Sweep) Check() error {
	for _, name := range []string{"plans", "m", "n", "confidence", "per-output", "represented", "ranges"} {
		if q.Standard && q.Given(name) {
			return fmt.Errorf("-%s with -standard, which has its own", name)
		}
	}
	return CheckSizes(MostDrawn, Size{"m", q.M}, Size{"n", q.N})
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
	if q.Standard {
		plans, err = q.standard(p)
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

// plan returns what the arguments tell, but for Standard.
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
	return p, errors.Join(
		once("k", p.Ks, strconv.Itoa),
		once("devices", p.Machines, machineName),
		once("dist", p.Data, dataName),
		once("confidence", p.Confidences, confidenceText))
}

func machineName(m tcore.Machine) string { return m.Name }

func dataName(l sweep.Generator) string { return l.Name }

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

// standard returns the parts of the standard plan, restricted to the machines,
// distributions and Ks that are given.
func (q *Sweep) standard(of sweep.Plan) (plans []sweep.Plan, err error) {
	for _, p := range sweep.Standard(of.Seeds, of.Told...) {
		if q.Given("devices") {
			p.Machines = common(p.Machines, of.Machines, func(m tcore.Machine) string { return m.Device.Name })
		}
		if q.Given("dist") {
			p.Data = common(p.Data, of.Data, dataName)
		}
		if q.Given("k") {
			p.Ks = common(p.Ks, of.Ks, strconv.Itoa)
		}
		if len(p.Machines) > 0 && len(p.Data) > 0 && len(p.Ks) > 0 {
			plans = append(plans, p)
		}
	}
	if plans == nil {
		return nil, errors.New("nothing of that is in the standard plan")
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

// StandardCommand begins the command of the standard plan.
const StandardCommand = "roundoff sweep -standard"

// command returns the command that sweeps a plan, or the standard plan
// restricted by it.
func (q *Sweep) command(p sweep.Plan) string {
	var b strings.Builder
	begins, without := "roundoff sweep", NewSweep()
	if q.Standard {
		begins = StandardCommand
	}
	b.WriteString(begins)
	for _, f := range []struct {
		name, value, without string
		standard             bool // it restricts the standard plan, if given
	}{
		{"devices", names(p.Machines, ",", machineName), without.Devices, true},
		{"plans", names(p.Orders, ";", func(o plan.Plan) string { return o.Name }), without.Plans, false},
		{"dist", names(p.Data, ",", dataName), without.Dist, true},
		{"m", strconv.Itoa(p.M), strconv.Itoa(without.M), false},
		{"n", strconv.Itoa(p.N), strconv.Itoa(without.N), false},
		{"k", names(p.Ks, ",", strconv.Itoa), without.K, true},
		{"seeds", sweep.FormatSeeds(p.Seeds), "", true},
		{"confidence", names(p.Confidences, ",", confidenceText), without.Confidence, false},
		{"per-output", strconv.FormatBool(p.PerOutput), strconv.FormatBool(without.PerOutput), false},
		{"told", names(p.Told, ",", sweep.Told.String), without.Told, true},
		{"ranges", strconv.FormatBool(p.Ranges), strconv.FormatBool(without.Ranges), false},
		{"represented", strconv.FormatBool(p.Represented), strconv.FormatBool(without.Represented), false},
	} {
		restricts := f.name == "devices" || f.name == "dist" || f.name == "k"
		switch {
		case q.Standard && (!f.standard || restricts && !q.Given(f.name)), f.value == f.without:
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

// names joins the names of a list.
func names[T any](list []T, between string, name func(T) string) string {
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
		each := float64(len(p.Data)) * float64(len(p.Seeds)) * float64(len(p.Machines)+len(p.Orders))
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
