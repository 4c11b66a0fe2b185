package sweep

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Grid lists the draws of a plan, one for each distribution, K and seed, the
// seeds of a K one after another. A draw is the pair of matrices that all
// machines multiply, and what a sweep is divided into.
type Grid struct {
	Data  []string
	Ks    []int
	Seeds []uint64
}

// A writtenGrid is a grid in JSON. Its seeds are in one text, as there may be a
// million of them in every file of a shard.
type writtenGrid struct {
	Data  []string `json:"data"`
	Ks    []int    `json:"k"`
	Seeds string   `json:"seeds"`
}

// MarshalJSON returns the grid with its seeds as [FormatSeeds] writes them.
func (g Grid) MarshalJSON() ([]byte, error) {
	return json.Marshal(writtenGrid{g.Data, g.Ks, FormatSeeds(g.Seeds)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Grid) UnmarshalJSON(text []byte) error {
	var w writtenGrid
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	seeds, err := seedsOf(w.Seeds)
	*g = Grid{w.Data, w.Ks, seeds}
	return err
}

// Grid returns the draws of the plan.
func (p Plan) Grid() Grid {
	g := Grid{Ks: p.Ks, Seeds: p.Seeds}
	for _, data := range p.Data {
		g.Data = append(g.Data, data.Name)
	}
	return g
}

// Draws returns the number of draws.
func (g Grid) Draws() int { return len(g.Data) * len(g.Ks) * len(g.Seeds) }

// at returns the indices of the distribution, the K and the seed of draw u.
func (g Grid) at(u int) (l, h, s int) {
	u, s = u/len(g.Seeds), u%len(g.Seeds)
	return u / len(g.Ks), u % len(g.Ks), s
}

// check returns an error that names the first row that cannot be of draw u.
func (g Grid) check(u int, rows []Row) error {
	l, h, s := g.at(u)
	for i, r := range rows {
		if i == 0 && r.Bound != ErrorRow || r.Data != g.Data[l] || r.K != g.Ks[h] || !slices.Equal(r.Seeds, g.Seeds[s:s+1]) {
			return fmt.Errorf("a row of %s on %s, %s, K = %d, seeds %s where those of %s, K = %d, seed %d are to be",
				r.Bound, r.Machine, r.Data, r.K, FormatSeeds(r.Seeds), g.Data[l], g.Ks[h], g.Seeds[s])
		}
	}
	return nil
}

// A table gathers the rows of the draws of a plan: those of machine i,
// distribution l and K h in the cell [i, l, h], joined in the order in which
// they are added.
type table struct {
	Grid
	machines int
	cells    map[[3]int]*joined
}

// table returns an empty table.
func (g Grid) table() *table { return &table{Grid: g, cells: map[[3]int]*joined{}} }

// add adds the rows of draw u of every machine, each with its row of errors
// first.
func (t *table) add(u int, rows []Row) error {
	l, h, _ := t.at(u)
	i := 0
	for ; len(rows) > 0; i++ {
		n := 1
		for n < len(rows) && rows[n].Bound != ErrorRow {
			n++
		}
		at := [3]int{i, l, h}
		if t.cells[at] == nil {
			t.cells[at] = &joined{}
		}
		if err := t.cells[at].add(rows[:n]); err != nil {
			return fmt.Errorf("%s, %s, K = %d: %w", rows[0].Machine, rows[0].Data, rows[0].K, err)
		}
		rows = rows[n:]
	}
	t.machines = max(t.machines, i)
	return nil
}

// rows returns the rows by machine, distribution and K.
func (t *table) rows() (rows []Row) {
	for i := range t.machines {
		for l := range t.Data {
			for h := range t.Ks {
				if j := t.cells[[3]int{i, l, h}]; j != nil {
					rows = append(rows, j.rows...)
				}
			}
		}
	}
	return rows
}
