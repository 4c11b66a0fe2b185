package sweep

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

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

// ErrNoPart is the error of [ReadPart] for what does not begin as a part does.
var ErrNoPart = errors.New("sweep: no shard of a sweep, which begins with a manifest")

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
		return Part{}, ErrNoPart
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
