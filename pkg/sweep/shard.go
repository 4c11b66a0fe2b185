package sweep

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Grid lists the draws of a plan, one for each distribution, K and seed, the
// seeds of a K one after another. A draw is the pair of matrices that all
// machines multiply, and what a sweep is divided into.
type Grid struct {
	Data  []string `json:"data"`
	Ks    []int    `json:"k"`
	Seeds []uint64 `json:"seeds"`
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
	cells    map[[3]int][]Row
}

// table returns an empty table.
func (g Grid) table() *table { return &table{Grid: g, cells: map[[3]int][]Row{}} }

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
		at, err := [3]int{i, l, h}, error(nil)
		if t.cells[at], err = Join(t.cells[at], rows[:n]); err != nil {
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
				rows = append(rows, t.cells[[3]int{i, l, h}]...)
			}
		}
	}
	return rows
}

// A Shard is one of the parts into which a sweep is divided, each for a
// computer: shard Index of Of, 1 ≤ Index ≤ Of. Of the draws of all its plans,
// numbered from 1, it has the draws Index, Index + Of, Index + 2 Of, ….
type Shard struct{ Index, Of int }

// ParseShard returns the shard that String writes, as in 3/16. An error says
// that s is none.
func ParseShard(s string) (Shard, error) {
	const most = 1_000_000
	index, of, _ := strings.Cut(s, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || i < 1 || n < i || n > most {
		return Shard{}, fmt.Errorf("sweep: shard %.40q, want one of how many, as in 3/16, a million at most", s)
	}
	return Shard{i, n}, nil
}

// String returns the shard in the form that ParseShard reads, as in 3/16.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// MarshalText returns String.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseShard.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// Draws returns how many of the given number of draws the shard has.
func (s Shard) Draws(all int) int { return (all - s.Index + s.Of) / s.Of }

// Run computes the draws of the plans that the shard has, in order, but for the
// first skip of them, and passes the rows of each to keep, those of each
// machine with its row of errors first. The rows depend on the plan and the
// draw alone: not on the shard, nor on the time that products take, which they
// leave out. It calls progress, unless that is nil, with the work done and the
// total, in units of K. An error is that of keep, says that ctx has ended, or
// that a product could not be judged.
//
// It panics as [Plan.Run] does.
func (s Shard) Run(ctx context.Context, plans []Plan, skip int, keep func(rows []Row) error, progress func(done, total int)) error {
	predicted := map[[2]int][][]Prediction{} // of a plan and a distribution, for every machine and K
	return s.run(ctx, plans, skip, func(of, u int, rows []Row) error {
		p := plans[of]
		for i := range rows {
			rows[i].Product, rows[i].Exact = 0, 0
		}
		if l, h, seed := p.Grid().at(u); p.Predict && seed == 0 {
			at := [2]int{of, l}
			if predicted[at] == nil {
				all, err := p.predictionsOf(ctx, l)
				if err != nil {
					return err
				}
				predicted[at] = all
			}
			machine := 0
			for i := range rows {
				if rows[i].Bound == ErrorRow {
					rows[i].Predicted = predicted[at][machine][h]
					machine++
				}
			}
		}
		return keep(rows)
	}, progress)
}

// run is Run without predictions and with the times; keep also gets the index
// of the plan and the number of the draw in it, from 0.
func (s Shard) run(ctx context.Context, plans []Plan, skip int, keep func(of, u int, rows []Row) error, progress func(done, total int)) error {
	units := make([][]unit, len(plans))
	var todo [][2]int // plan and draw
	total, number := 0, 0
	for i, p := range plans {
		p.check()
		var err error
		if units[i], err = p.units(); err != nil {
			return err
		}
		g := p.Grid()
		for u := range g.Draws() {
			if number++; number%s.Of != s.Index%s.Of {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			_, h, _ := g.at(u)
			total += p.Ks[h] * len(units[i])
			todo = append(todo, [2]int{i, u})
		}
	}
	var mu sync.Mutex
	done := 0
	for _, at := range todo {
		of, u := at[0], at[1]
		p := plans[of]
		_, h, _ := p.Grid().at(u)
		rows, err := p.measureDraw(ctx, units[of], u, func() {
			mu.Lock()
			defer mu.Unlock()
			if done += p.Ks[h]; ctx.Err() == nil && progress != nil {
				progress(done, total)
			}
		})
		if err == nil {
			err = keep(of, u, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Part is what there is of a shard: the rows of its first draws, and a
// manifest that says what they are of. It is whole if it has all draws.
type Part struct {
	File    string  `json:"-"`       // where it comes from, by which errors name it
	Version string  `json:"version"` // of the program
	Command string  `json:"command"` // which sweeps the plans, without a division
	Shard   Shard   `json:"shard"`
	Plans   []Grid  `json:"plans"`
	Draws   [][]Row `json:"-"`
}

// A manifest is the first line of the file of a part, behind "# ".
type manifest struct {
	Part
	Rows   []int  `json:"rows"`   // of each draw
	SHA256 string `json:"sha256"` // of all that follows the line
}

// manifestBegins is how the file of a part begins, and no other of rows.
const manifestBegins = "# {"

// Missing returns how many draws the part lacks.
func (p Part) Missing() int {
	all := 0
	for _, g := range p.Plans {
		all += g.Draws()
	}
	return p.Shard.Draws(all) - len(p.Draws)
}

// Same returns nil if both are parts of one sweep by one version. Otherwise the
// error names both files, and in what they differ.
func (p Part) Same(q Part) error {
	switch {
	case p.Version != q.Version:
		return fmt.Errorf("sweep: %s is by version %s, %s by version %s, want shards by one", p.File, p.Version, q.File, q.Version)
	case p.Command != q.Command:
		return fmt.Errorf("sweep: %s is a shard of %s, %s one of %s, want shards of one plan", p.File, p.Command, q.File, q.Command)
	case p.Shard.Of != q.Shard.Of:
		return fmt.Errorf("sweep: %s is shard %v, %s shard %v, want shards of as many", p.File, p.Shard, q.File, q.Shard)
	case !slices.EqualFunc(p.Plans, q.Plans, func(g, h Grid) bool {
		return slices.Equal(g.Data, h.Data) && slices.Equal(g.Ks, h.Ks) && slices.Equal(g.Seeds, h.Seeds)
	}):
		return fmt.Errorf("sweep: %s and %s say that %s draws different matrices, want shards by one version", p.File, q.File, p.Command)
	}
	return nil
}

// Write writes the part: the manifest with the number of rows of each draw and
// the SHA-256 of what follows, as JSON in a line, and then the rows as [Write]
// does. It returns an error if w does, or if [ReadPart] would not read as much.
func (p Part) Write(w io.Writer) error {
	m := manifest{Part: p, Rows: []int{}}
	for _, rows := range p.Draws {
		m.Rows = append(m.Rows, len(rows))
	}
	var body bytes.Buffer
	if err := Write(&body, "", slices.Concat(p.Draws...)); err != nil {
		return err
	}
	text := body.Bytes()[len("# \n"):]
	sum := sha256.Sum256(text)
	m.SHA256 = hex.EncodeToString(sum[:])
	line := bytes.NewBufferString("# ")
	j := json.NewEncoder(line)
	j.SetEscapeHTML(false) // a person reads the command
	if err := j.Encode(m); err != nil {
		return err
	}
	if n := line.Len() + len(text); n >= longest {
		return fmt.Errorf("sweep: shard %v takes %d bytes, want less than %d: divide the sweep into more", p.Shard, n, longest)
	}
	_, err := w.Write(append(line.Bytes(), text...))
	return err
}

// BeginsPart reports whether r begins as [Part.Write] begins a file, which
// [Write] does not. It takes nothing from r.
func BeginsPart(r *bufio.Reader) bool {
	begins, _ := r.Peek(len(manifestBegins))
	return string(begins) == manifestBegins
}

// ReadPart reads what [Part.Write] wrote. If the error says that rows are
// damaged or cut off, the part returned has what the manifest says and no
// draws; with other errors it has no Version.
func ReadPart(r io.Reader) (Part, error) {
	limited := &io.LimitedReader{R: r, N: longest}
	b := bufio.NewReader(limited)
	if !BeginsPart(b) {
		return Part{}, errors.New("sweep: no shard of a sweep, which begins with a manifest")
	}
	line, err := b.ReadBytes('\n')
	var m manifest
	if err == nil {
		err = json.Unmarshal(line[len("# "):], &m)
	}
	if err != nil || m.Version == "" || m.Command == "" || m.Shard.Of == 0 || !m.possible() {
		return Part{}, fmt.Errorf("sweep: a manifest that is damaged or cut off (%d bytes)", len(line))
	}
	p := m.Part
	text, err := io.ReadAll(b)
	if err != nil {
		return Part{}, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != m.SHA256 {
		return p, fmt.Errorf("sweep: shard %v is damaged or cut off, its rows have not the checksum of its manifest", p.Shard)
	}
	rows, _, err := Read(bytes.NewReader(text))
	if err != nil {
		return p, err
	}
	if p.Draws, err = m.draws(rows); err != nil {
		p.Draws = nil
		return p, fmt.Errorf("sweep: shard %v: %w, want what its manifest says", p.Shard, err)
	}
	return p, nil
}

// possible reports whether there can be plans of so many draws.
func (m manifest) possible() bool {
	const most = 1e12
	all := 0.0
	for _, g := range m.Plans {
		all += float64(len(g.Data)) * float64(len(g.Ks)) * float64(len(g.Seeds))
	}
	return 0 < all && all < most
}

// draws returns the rows by draws. An error says that they are not what the
// manifest says.
func (m manifest) draws(rows []Row) (draws [][]Row, err error) {
	number := 0
	for _, g := range m.Plans {
		for u := range g.Draws() {
			if len(draws) == len(m.Rows) {
				break
			}
			if number++; number%m.Shard.Of != m.Shard.Index%m.Shard.Of {
				continue
			}
			n := m.Rows[len(draws)]
			if n < 1 || n > len(rows) {
				return nil, fmt.Errorf("a draw of %d rows of %d", n, len(rows))
			}
			if err := g.check(u, rows[:n]); err != nil {
				return nil, err
			}
			draws, rows = append(draws, rows[:n:n]), rows[n:]
		}
	}
	if len(draws) < len(m.Rows) || len(rows) > 0 {
		return nil, fmt.Errorf("%d draws and %d rows more than it has", len(m.Rows)-len(draws), len(rows))
	}
	return draws, nil
}

// JoinParts returns the rows of the sweep whose shards the parts are, in any
// order: those that [Plan.Run] returns for its plans one after another, up to
// the digits that [Write] writes, and without times. They do not depend on how
// many shards there are. An error says which part is of another sweep or
// version, there twice, not whole, or missing.
func JoinParts(parts []Part) ([]Row, error) {
	if len(parts) == 0 {
		return nil, errors.New("sweep: no shards, want all of a sweep")
	}
	of := parts[0].Shard.Of
	by := map[int]Part{}
	for _, p := range parts {
		if err := parts[0].Same(p); err != nil {
			return nil, err
		}
		if q, twice := by[p.Shard.Index]; twice {
			return nil, fmt.Errorf("sweep: %s and %s are both shard %v, want each once", q.File, p.File, p.Shard)
		}
		if n := p.Missing(); n > 0 {
			return nil, fmt.Errorf("sweep: %s has %d draws of %d, want all: the command that began shard %v goes on with it", p.File, len(p.Draws), len(p.Draws)+n, p.Shard)
		}
		by[p.Shard.Index] = p
	}
	if len(by) < of {
		var missing []uint64
		for i := 1; i <= of; i++ {
			if _, ok := by[i]; !ok {
				missing = append(missing, uint64(i))
			}
		}
		return nil, fmt.Errorf("sweep: %d of %d shards are missing: %s", len(missing), of, FormatSeeds(missing))
	}
	var rows []Row
	number := 0
	for _, g := range parts[0].Plans {
		t := g.table()
		for u := range g.Draws() {
			if err := t.add(u, by[number%of+1].Draws[number/of]); err != nil {
				return nil, err
			}
			number++
		}
		var err error
		if rows, err = Join(rows, t.rows()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
