package atlas

import (
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// An Atlas is a data set: what was swept, a cell for every machine,
// distribution and K, and one for every machine, recipe, distribution and K.
type Atlas struct {
	Manifest
	Devices []Device
	Cells   []Cell       // by machine, distribution and K, in the order of the sweep
	Recipes []RecipeCell // by machine, recipe, distribution and K, likewise
}

// A Device is a matrix unit of the catalogue, described so that the data set
// can be read without this module.
type Device struct {
	Name         string `json:"name"`
	Machine      string `json:"machine"` // the first device with the same results, whose cells it has
	Architecture string `json:"architecture"`
	Instruction  string `json:"instruction"`
	Factors      string `json:"factors"` // the format of A and B
	Sums         string `json:"sums"`    // the format of C and D
	Scale        string `json:"scale,omitempty"`
	Family       string `json:"family"` // how it rounds sums, see [Families]
}

// Errors describe the errors e of the products of one machine, distribution and
// K, relative to |A||B|. If no output could be judged, Outputs is 0 and Why
// says why.
type Errors struct {
	Machine, Data string
	K             int
	Runs          int // products
	Outputs       int // that were judged, of all products
	Skipped       int // that were not
	Why           string

	Tightness float64 // the least over products of the largest |e|/|A||B|
	Largest   float64 // of all |e|/|A||B|
	Median    float64 // of |e|/|A||B|, to within 19 %
	Mean      float64 // of e/|A||B|
	Spread    float64 // the standard deviation of e/|A||B|
}

// RMS returns the root mean square of e/|A||B|.
func (e Errors) RMS() float64 { return math.Hypot(e.Mean, e.Spread) }

// A Cell has the errors e = D̂ - D of the products of one machine, distribution
// and K, and every bound on them; none if no output could be judged.
type Cell struct {
	Errors
	Slope  float64 // of e on D, by least squares; NaN if there is none
	Bounds []Bound
}

// A Bound is the result for one bound in a cell; the fields are those of
// [sweep.Row] with the same names.
type Bound struct {
	Name                              string
	Deterministic                     bool
	Ranges                            bool // it is also told the sizes of the elements of A and B
	Verdict                           sweep.Verdict
	Runs, Failed, Outputs, Violations int
	Tightness, Largest, Constant      float64
}

// Rows returns the rows of the bounds of the cell as package sweep has them,
// without their sketches, for its functions.
func (c Cell) Rows(m Manifest) []sweep.Row {
	rows := make([]sweep.Row, len(c.Bounds))
	for i, b := range c.Bounds {
		rows[i] = b.row(m)
		rows[i].Machine, rows[i].Data, rows[i].K = c.Machine, c.Data, c.K
	}
	return rows
}

// row returns the row of the bound, of no machine, data and K.
func (b Bound) row(m Manifest) sweep.Row {
	return sweep.Row{
		M: m.M, N: m.N, Confidence: m.Confidence, Bound: b.Name, Deterministic: b.Deterministic, Ranges: b.Ranges, Verdict: b.Verdict, Seeds: m.Seeds,
		Summary: sweep.Summary{Runs: b.Runs, Failed: b.Failed, Outputs: b.Outputs, Violations: b.Violations,
			Tightness: b.Tightness, Largest: b.Largest, Constant: b.Constant},
	}
}

// boundOf returns the bound of a row.
func boundOf(r sweep.Row) Bound {
	return Bound{r.Bound, r.Deterministic, r.Ranges, r.Verdict, r.Runs, r.Failed, r.Outputs, r.Violations, r.Tightness, r.Largest, r.Constant}
}

// Tightest returns the claimed bound with the largest Tightness among those
// that need no more knowledge than knows, without the error itself, as
// [sweep.Tightest] does; ok is false if there is none.
func (c Cell) Tightest(knows bound.Knowledge) (best Bound, ok bool) {
	for _, b := range c.Bounds {
		of, known := bound.Find(b.Name)
		if known && of.Needs <= knows && b.Name != bound.Exact.Name && b.Verdict == sweep.Holds && (!ok || b.Tightness > best.Tightness) {
			best, ok = b, true
		}
	}
	return best, ok
}

// Claimed returns how many probabilistic and how many deterministic bounds that
// need no more than knows are claimed, without the error itself, and how many
// of the claimed ones an output exceeds.
func (c Cell) Claimed(knows bound.Knowledge) (random, certain, exceeded int) {
	for _, b := range c.Bounds {
		of, known := bound.Find(b.Name)
		if !known || of.Needs > knows || b.Name == bound.Exact.Name || b.Verdict != sweep.Holds {
			continue
		}
		if b.Deterministic {
			certain++
		} else {
			random++
		}
		if b.Violations > 0 {
			exceeded++
		}
	}
	return random, certain, exceeded
}

// A Query selects cells. An empty field selects all.
type Query struct {
	Device string // a name, or how one begins before a hyphen, as in hopper or hopper-mma
	Format string // of the factors
	Recipe string // of cells that have one
	Data   string
	K      int
}

// Matches reports whether the device is one of those of the query.
func (q Query) Matches(d Device) bool {
	return (q.Device == "" || d.Name == q.Device || strings.HasPrefix(d.Name, q.Device+"-")) && (q.Format == "" || d.Factors == q.Format)
}

// Select returns the cells without recipes of the query, those of devices that
// compute the same once; none if it asks for a recipe.
func (a *Atlas) Select(q Query) (cells []Cell) {
	machines := map[string]bool{}
	for _, d := range a.Devices {
		if q.Matches(d) {
			machines[d.Machine] = true
		}
	}
	for _, c := range a.Cells {
		if machines[c.Machine] && q.Recipe == "" && (q.Data == "" || c.Data == q.Data) && (q.K == 0 || c.K == q.K) {
			cells = append(cells, c)
		}
	}
	return cells
}

// Device returns the device of that name; ok is false if there is none.
func (a *Atlas) Device(name string) (d Device, ok bool) {
	i := slices.IndexFunc(a.Devices, func(d Device) bool { return d.Name == name })
	if i < 0 {
		return d, false
	}
	return a.Devices[i], true
}

// Machines returns the devices that stand for all that compute the same.
func (a *Atlas) Machines() (first []Device) {
	for _, d := range a.Devices {
		if d.Name == d.Machine {
			first = append(first, d)
		}
	}
	return first
}

// Data returns the distributions in the order of the sweep.
func (a *Atlas) Data() []string {
	plain, recipes := distinct(a.Cells, func(c Cell) string { return c.Data }), distinct(a.Recipes, func(c RecipeCell) string { return c.Data })
	return distinct(append(plain, recipes...), func(l string) string { return l })
}

// Ks returns the lengths of the sums in increasing order.
func (a *Atlas) Ks() []int {
	ks := append(distinct(a.Cells, func(c Cell) int { return c.K }), a.RecipeKs()...)
	slices.Sort(ks)
	return slices.Compact(ks)
}

// distinct returns the different values of f, in the order of their first
// occurrence.
func distinct[T any, V comparable](list []T, f func(T) V) (values []V) {
	seen := map[V]bool{}
	for _, x := range list {
		if v := f(x); !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}
