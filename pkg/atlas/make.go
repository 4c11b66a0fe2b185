package atlas

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// New returns the atlas of the rows of a sweep, with the comment of their file:
// the command and the version, in a line each, as roundoff sweep -atlas and
// -join of shards write it. An error says that the comment is another, that a
// row is of a machine that is no device of the catalogue, or that rows differ
// in what an atlas has one of: M, N, the confidence, and what bounds are told.
func New(rows []sweep.Row, comment string) (*Atlas, error) {
	a := &Atlas{}
	command, version, _ := strings.Cut(comment, "\n")
	version, ok := strings.CutPrefix(version, "roundoff ")
	if !ok || strings.Contains(version, "\n") || !strings.HasPrefix(command, "roundoff sweep ") {
		return nil, fmt.Errorf("atlas: rows of %.80q, want those of a command and a version, as roundoff sweep -atlas and -join of shards write them", comment)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("atlas: no rows of %s", command)
	}
	a.Command, a.Version = command, version
	a.M, a.N = rows[0].M, rows[0].N
	by := map[string]cells{}
	for i := 0; i < len(rows); {
		if rows[i].Bound != sweep.ErrorRow {
			return nil, fmt.Errorf("atlas: the rows of %s on %s, K = %d, have no row of errors before them", rows[i].Data, rows[i].Machine, rows[i].K)
		}
		n := 1
		for i+n < len(rows) && rows[i+n].Bound != sweep.ErrorRow {
			n++
		}
		if err := a.check(rows[i : i+n]); err != nil {
			return nil, err
		}
		z := by[rows[i].Machine]
		if rows[i].Recipe == "" {
			z.plain = append(z.plain, cell(rows[i:i+n]))
		} else {
			z.recipes = append(z.recipes, recipeCell(rows[i:i+n]))
		}
		by[rows[i].Machine] = z
		i += n
	}
	slices.Sort(a.Seeds)
	return a, a.gather(by)
}

// cells are those of one machine, without and with recipes.
type cells struct {
	plain   []Cell
	recipes []RecipeCell
}

// cell returns the cell of a row of errors and the rows of bounds after it.
func cell(rows []sweep.Row) Cell {
	e := rows[0]
	c := Cell{Errors: errorsOf(e)}
	if e.Outputs > 0 {
		c.Slope = e.Slope()
	}
	for _, r := range rows[1:] {
		c.Bounds = append(c.Bounds, boundOf(r))
	}
	return c
}

// errorsOf returns what a row of errors says of them.
func errorsOf(e sweep.Row) Errors {
	z := Errors{
		Machine: e.Machine, Data: e.Data, K: e.K, Runs: e.Runs, Outputs: e.Outputs, Skipped: e.Skipped, Why: e.Why,
		Tightness: e.Tightness, Largest: e.Largest,
	}
	if e.Outputs > 0 {
		z.Median, z.Mean, z.Spread = e.Median(), e.Mean(), e.Spread()
	}
	return z
}

// check takes up the seeds and the confidence of a row of errors and the rows
// of bounds after it. The error says that they are not of one cell, or differ
// from those before in what an atlas has one of.
func (a *Atlas) check(rows []sweep.Row) error {
	e := rows[0]
	for _, s := range e.Seeds {
		if !slices.Contains(a.Seeds, s) {
			a.Seeds = append(a.Seeds, s)
		}
	}
	for i, r := range rows {
		if a.Confidence == 0 {
			a.Confidence = r.Confidence
		}
		if r.Machine != e.Machine || r.Recipe != e.Recipe || r.Data != e.Data || r.K != e.K {
			return fmt.Errorf("atlas: a row of %s on %s, K = %d, among those of %s on %s, K = %d", r.Data, r.Machine, r.K, e.Data, e.Machine, e.K)
		}
		told := r.Told == sweep.FromDistribution || r.Recipe != "" && r.Told == sweep.FromMatrices
		if r.M != a.M || r.N != a.N || i > 0 && r.Confidence != a.Confidence || !told || r.Represented != (r.Recipe != "") || r.PerOutput {
			return fmt.Errorf("atlas: %s on %s, %s, K = %d: M = %d, N = %d, confidence %v, told %v, represented %v, per output %v; "+
				"want M = %d, N = %d, confidence %v for all rows, told the distribution, or the matrices of recipes, and represented with them alone",
				r.Bound, r.Machine, r.Data, r.K, r.M, r.N, r.Confidence, r.Told, r.Represented, r.PerOutput, a.M, a.N, a.Confidence)
		}
	}
	return nil
}

// gather sets the devices and the cells, those of devices that compute the same
// once. A device without cells of recipes has those of the one that computes
// the same.
func (a *Atlas) gather(by map[string]cells) error {
	same := map[string]string{} // the first machine with such cells
	left := maps.Clone(by)      // of no device so far
	for _, d := range devices.All() {
		cells, ok := by[d.Name]
		if !ok {
			continue
		}
		delete(left, d.Name)
		z := Device{Architecture: d.Architecture, Instruction: d.Instruction, Factors: d.A.Name, Sums: d.C.Name, Family: familyOf(d)}
		if d.ScaleBlock > 0 {
			z.Scale = fmt.Sprintf("%s/%d", d.Scale.Name, d.ScaleBlock)
		}
		key := fmt.Sprint(z.Factors, z.Sums, z.Scale, z.Family, anonymous(cells.plain, func(c *Cell) *string { return &c.Machine }))
		first, seen := same[key]
		if !seen || len(cells.recipes) > 0 && !alike(cells.recipes, by[first].recipes) {
			first = d.Name
			a.Cells, a.Recipes = append(a.Cells, cells.plain...), append(a.Recipes, cells.recipes...)
		}
		if !seen {
			same[key] = first
		}
		z.Name, z.Machine = d.Name, first
		a.Devices = append(a.Devices, z)
	}
	a.Recipes = append(a.Recipes, by[sweep.Integers.Name].recipes...)
	delete(left, sweep.Integers.Name)
	for name := range left {
		return fmt.Errorf("atlas: machine %s is no device of the catalogue, want names of roundoff devices", name)
	}
	return nil
}

// anonymous returns cells without the names of their machines.
func anonymous[T any](cells []T, machine func(*T) *string) []T {
	cells = slices.Clone(cells)
	for i := range cells {
		*machine(&cells[i]) = ""
	}
	return cells
}

// alike reports whether two machines have the same cells with recipes.
func alike(x, y []RecipeCell) bool {
	name := func(c *RecipeCell) *string { return &c.Machine }
	return fmt.Sprint(anonymous(x, name)) == fmt.Sprint(anonymous(y, name))
}
