package atlas

import (
	"fmt"
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
	by := map[string][]Cell{}
	for i := 0; i < len(rows); {
		if rows[i].Bound != sweep.ErrorRow {
			return nil, fmt.Errorf("atlas: the rows of %s on %s, K = %d, have no row of errors before them", rows[i].Data, rows[i].Machine, rows[i].K)
		}
		n := 1
		for i+n < len(rows) && rows[i+n].Bound != sweep.ErrorRow {
			n++
		}
		c, err := a.cell(rows[i : i+n])
		if err != nil {
			return nil, err
		}
		by[c.Machine] = append(by[c.Machine], c)
		i += n
	}
	slices.Sort(a.Seeds)
	return a, a.gather(by)
}

// cell returns the cell of a row of errors and the rows of bounds after it, and
// takes up their seeds and confidence.
func (a *Atlas) cell(rows []sweep.Row) (Cell, error) {
	e := rows[0]
	c := Cell{
		Machine: e.Machine, Data: e.Data, K: e.K, Runs: e.Runs, Outputs: e.Outputs, Skipped: e.Skipped, Why: e.Why,
		Tightness: e.Tightness, Largest: e.Largest,
	}
	if e.Outputs > 0 {
		c.Median, c.Mean, c.Spread, c.Slope = e.Median(), e.Mean(), e.Spread(), e.Slope()
	}
	for _, s := range e.Seeds {
		if !slices.Contains(a.Seeds, s) {
			a.Seeds = append(a.Seeds, s)
		}
	}
	for i, r := range rows {
		if a.Confidence == 0 {
			a.Confidence = r.Confidence
		}
		if r.Machine != e.Machine || r.Data != e.Data || r.K != e.K {
			return c, fmt.Errorf("atlas: a row of %s on %s, K = %d, among those of %s on %s, K = %d", r.Data, r.Machine, r.K, e.Data, e.Machine, e.K)
		}
		if r.M != a.M || r.N != a.N || i > 0 && r.Confidence != a.Confidence || r.Told != sweep.FromDistribution || r.Represented || r.PerOutput {
			return c, fmt.Errorf("atlas: %s on %s, %s, K = %d: M = %d, N = %d, confidence %v, told %v, represented %v, per output %v; "+
				"want M = %d, N = %d, confidence %v for all rows, told the distribution alone",
				r.Bound, r.Machine, r.Data, r.K, r.M, r.N, r.Confidence, r.Told, r.Represented, r.PerOutput, a.M, a.N, a.Confidence)
		}
		if i > 0 {
			c.Bounds = append(c.Bounds, Bound{r.Bound, r.Deterministic, r.Ranges, r.Verdict, r.Runs, r.Failed, r.Outputs, r.Violations, r.Tightness, r.Largest, r.Constant})
		}
	}
	return c, nil
}

// gather sets the devices and the cells, those of devices that compute the same
// once.
func (a *Atlas) gather(by map[string][]Cell) error {
	same := map[string]string{} // the first machine with such cells
	for _, d := range devices.All() {
		cells, ok := by[d.Name]
		if !ok {
			continue
		}
		delete(by, d.Name)
		z := Device{Architecture: d.Architecture, Instruction: d.Instruction, Factors: d.A.Name, Sums: d.C.Name, Family: familyOf(d)}
		if d.ScaleBlock > 0 {
			z.Scale = fmt.Sprintf("%s/%d", d.Scale.Name, d.ScaleBlock)
		}
		anonymous := slices.Clone(cells)
		for i := range anonymous {
			anonymous[i].Machine = ""
		}
		key := fmt.Sprint(z.Factors, z.Sums, z.Scale, z.Family, anonymous)
		if _, seen := same[key]; !seen {
			same[key] = d.Name
			a.Cells = append(a.Cells, cells...)
		}
		z.Name, z.Machine = d.Name, same[key]
		a.Devices = append(a.Devices, z)
	}
	for name := range by {
		return fmt.Errorf("atlas: machine %s is no device of the catalogue, want names of roundoff devices", name)
	}
	return nil
}
