package atlas

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// A Manifest says what an atlas is of, and what its files are. It is
// manifest.json.
type Manifest struct {
	Version    string   `json:"version"` // of the program that swept
	Command    string   `json:"command"`
	Seeds      []uint64 `json:"seeds"`
	M          int      `json:"m"`
	N          int      `json:"n"`
	Confidence float64  `json:"confidence"` // of all outputs of a product together
	Licence    string   `json:"licence"`    // SPDX
	Files      []File   `json:"files"`
}

// A File is one of the files of an atlas, other than the manifest.
type File struct {
	Name    string   `json:"name"`
	Bytes   int      `json:"bytes"`
	SHA256  string   `json:"sha256"`
	Rows    int      `json:"rows,omitempty"` // of a table
	Columns []Column `json:"columns,omitempty"`

	data []byte
}

// Data returns the contents of the file.
func (f File) Data() []byte { return f.data }

// A Column describes a column of a table.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // of NumPy
	Says string `json:"says"`
}

// ManifestName is the name of the file of the manifest.
const ManifestName = "manifest.json"

//go:embed CC0-1.0.txt
var licence []byte

// names are the words that numbers in columns stand for, in order. They are
// names.json.
type names struct {
	Machines []string     `json:"machines"`
	Recipes  []Recipe     `json:"recipes"`
	Data     []string     `json:"data"`
	Bounds   []namedBound `json:"bounds"`
	Verdicts []string     `json:"verdicts"`
	Why      []string     `json:"why"`
	Devices  []Device     `json:"devices"`
}

type namedBound struct {
	Name          string `json:"name"`
	Deterministic bool   `json:"deterministic"`
	Needs         string `json:"needs"`
	Source        string `json:"source"`
}

// verdicts are the codes of verdicts.
var verdicts = []string{string(sweep.Holds), string(sweep.NotMachine), string(sweep.NotData)}

// A cellRecord is a row of errors.npz, and a boundRecord one of bounds.npz.
type (
	cellRecord struct {
		Cell
		machine, data, why int
	}
	boundRecord struct {
		Bound
		cell, bound, ranges, verdict int
	}
)

var cellColumns = slices.Concat([]column[cellRecord]{
	whole("machine", "|u1", "index in machines of names.json", func(r *cellRecord) *int { return &r.machine }),
	whole("data", "|u1", "index in data of names.json", func(r *cellRecord) *int { return &r.data }),
},
	errorColumns("", func(r *cellRecord) (*Errors, *int) { return &r.Errors, &r.why }),
	[]column[cellRecord]{real("slope", "the least-squares slope of e on the exact output, NaN if there is none", func(r *cellRecord) *float64 { return &r.Slope })},
)

// errorColumns returns the columns of errors, and of the number of why not;
// what says what they are of.
func errorColumns[T any](what string, at func(*T) (of *Errors, why *int)) []column[T] {
	of := func(r *T) *Errors {
		e, _ := at(r)
		return e
	}
	return []column[T]{
		whole("k", "<i4", "the terms of each sum", func(r *T) *int { return &of(r).K }),
		whole("runs", "<i4", "products that were judged", func(r *T) *int { return &of(r).Runs }),
		whole("outputs", "<i4", "outputs that were judged", func(r *T) *int { return &of(r).Outputs }),
		whole("skipped", "<i4", "outputs that were not", func(r *T) *int { return &of(r).Skipped }),
		whole("why", "|u1", "why not: index in why of names.json", func(r *T) *int {
			_, why := at(r)
			return why
		}),
		real("tightness", "the largest |e|/|A||B| of a product, least over products"+what, func(r *T) *float64 { return &of(r).Tightness }),
		real("largest", "the largest |e|/|A||B|", func(r *T) *float64 { return &of(r).Largest }),
		real("median", "the median of |e|/|A||B|, to within 19 %", func(r *T) *float64 { return &of(r).Median }),
		real("mean", "the mean of e/|A||B|", func(r *T) *float64 { return &of(r).Mean }),
		real("spread", "the standard deviation of e/|A||B|", func(r *T) *float64 { return &of(r).Spread }),
	}
}

var boundColumns = []column[boundRecord]{
	whole("cell", "<i4", "row of errors.npz", func(r *boundRecord) *int { return &r.cell }),
	whole("bound", "|u1", "index in bounds of names.json", func(r *boundRecord) *int { return &r.bound }),
	whole("ranges", "|u1", "1 if the bound is also told the sizes of the elements of A and B, where that changes it", func(r *boundRecord) *int { return &r.ranges }),
	whole("verdict", "|u1", "index in verdicts of names.json: holds, or which assumption is false, on the machine or of the data", func(r *boundRecord) *int { return &r.verdict }),
	whole("runs", "<i4", "products", func(r *boundRecord) *int { return &r.Runs }),
	whole("failed", "<i4", "products with an output above the bound", func(r *boundRecord) *int { return &r.Failed }),
	whole("outputs", "<i4", "outputs", func(r *boundRecord) *int { return &r.Outputs }),
	whole("violations", "<i4", "outputs above the bound", func(r *boundRecord) *int { return &r.Violations }),
	real("tightness", "the largest |e|/bound of a product, least over products", func(r *boundRecord) *float64 { return &r.Tightness }),
	real("largest", "the largest |e|/bound", func(r *boundRecord) *float64 { return &r.Bound.Largest }),
	real("constant", "the largest bound/|A||B|", func(r *boundRecord) *float64 { return &r.Constant }),
}

// described returns the columns in words.
func described[T any](columns []column[T]) (list []Column) {
	for _, c := range columns {
		list = append(list, Column{c.name, c.kind, c.says})
	}
	return list
}

// index returns the place of a word in a list, where it puts it if it is not
// there.
func index(list *[]string, word string) int {
	if i := slices.Index(*list, word); i >= 0 {
		return i
	}
	*list = append(*list, word)
	return len(*list) - 1
}

// Pack returns the files of the atlas, the manifest last. They depend on the
// atlas alone. An error says that a number has no place in its column.
func (a *Atlas) Pack() ([]File, error) {
	n := names{Devices: a.Devices, Verdicts: verdicts, Why: []string{""}}
	var cells []cellRecord
	var bounds []boundRecord
	for _, c := range a.Cells {
		for _, b := range c.Bounds {
			r := boundRecord{b, len(cells), n.bound(b), 0, index(&n.Verdicts, string(b.Verdict))}
			if b.Ranges {
				r.ranges = 1
			}
			bounds = append(bounds, r)
		}
		cells = append(cells, cellRecord{c, index(&n.Machines, c.Machine), index(&n.Data, c.Data), index(&n.Why, c.Why)})
	}
	recipes, recipeBounds, err := n.recipeRecords(a.Recipes)
	if err != nil {
		return nil, err
	}
	tables := make([]File, len(tableNames))
	if err := cmp.Or(
		table(&tables[0], tableNames[0], cellColumns, cells), table(&tables[1], tableNames[1], boundColumns, bounds),
		table(&tables[2], tableNames[2], recipeColumns, recipes), table(&tables[3], tableNames[3], recipeBoundColumns, recipeBounds),
	); err != nil {
		return nil, err
	}
	text, err := encoded(n)
	if err != nil {
		return nil, err
	}
	m := a.Manifest
	m.Licence = "CC0-1.0"
	m.Files = append(tables, File{Name: "names.json", data: text}, File{Name: "LICENSE", data: licence})
	m.Files = append(m.Files, File{Name: "README.md", data: a.dataSheet(m.Files)})
	for i, f := range m.Files {
		sum := sha256.Sum256(f.data)
		m.Files[i].Bytes, m.Files[i].SHA256 = len(f.data), hex.EncodeToString(sum[:])
	}
	if text, err = encoded(m); err != nil {
		return nil, err
	}
	return append(m.Files, File{Name: ManifestName, data: text}), nil
}

// tableNames are the files of the tables, in the order of the manifest.
var tableNames = []string{"errors.npz", "bounds.npz", "recipes.npz", "recipe_bounds.npz"}

// table sets the file of a table.
func table[T any](f *File, name string, columns []column[T], records []T) (err error) {
	*f = File{Name: name, Rows: len(records), Columns: described(columns)}
	f.data, err = pack(columns, records)
	return err
}

// bound returns the index of a bound in Bounds, where it puts it if it is not
// there.
func (n *names) bound(b Bound) int {
	i := slices.IndexFunc(n.Bounds, func(of namedBound) bool { return of.Name == b.Name })
	if i >= 0 {
		return i
	}
	of, _ := bound.Find(b.Name)
	z := namedBound{b.Name, b.Deterministic, of.Needs.String(), of.Source}
	if b.Name == sweep.QuantisationRow {
		z.Source = "the part of every bound on quantised products that is of quantisation"
	}
	n.Bounds = append(n.Bounds, z)
	return len(n.Bounds) - 1
}

// encoded returns x as JSON that a person can read.
func encoded(x any) ([]byte, error) {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	j.SetIndent("", " ")
	err := j.Encode(x)
	return b.Bytes(), err
}

// most is the number of bytes that a file may have.
const most = 1 << 28

// Read reads an atlas, and sees that its files have the checksums of the
// manifest and say what an atlas says. An error names the file that is missing,
// damaged or another's.
func Read(folder fs.FS) (*Atlas, error) {
	text, err := readFile(folder, ManifestName)
	if err != nil {
		return nil, err
	}
	a := &Atlas{}
	if err := json.Unmarshal(text, &a.Manifest); err != nil || a.Version == "" || a.Command == "" || len(a.Seeds) == 0 {
		return nil, fmt.Errorf("atlas: %s is damaged or not of an atlas", ManifestName)
	}
	found := map[string]File{}
	for i, f := range a.Files {
		if f.data, err = readFile(folder, f.Name); err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(f.data); hex.EncodeToString(sum[:]) != f.SHA256 || len(f.data) != f.Bytes {
			return nil, fmt.Errorf("atlas: %s has not the checksum of %s: one of them is damaged or of another atlas", f.Name, ManifestName)
		}
		a.Files[i], found[f.Name] = f, f
	}
	for _, name := range append(slices.Clone(tableNames), "names.json", "LICENSE", "README.md") {
		if _, ok := found[name]; !ok {
			return nil, fmt.Errorf("atlas: %s does not name %s", ManifestName, name)
		}
	}
	var n names
	if err := json.Unmarshal(found["names.json"].data, &n); err != nil {
		return nil, fmt.Errorf("atlas: names.json: %w", err)
	}
	a.Devices = n.Devices
	if a.Cells, err = cellsOf(n, found[tableNames[0]], found[tableNames[1]]); err != nil {
		return nil, err
	}
	if a.Recipes, err = recipesOf(n, found[tableNames[2]], found[tableNames[3]]); err != nil {
		return nil, err
	}
	return a, nil
}

// readFile returns the contents of a file of the folder.
func readFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("atlas: there is no %s, want the folder of an atlas", name)
	}
	if err != nil {
		return nil, fmt.Errorf("atlas: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	if err != nil {
		return nil, fmt.Errorf("atlas: %s: %w", name, err)
	}
	return data, nil
}

// rowsOf returns the records of a table. The error names it.
func rowsOf[T any](columns []column[T], f File) ([]T, error) {
	if f.Rows < 0 || f.Rows > most {
		return nil, fmt.Errorf("atlas: %s of %d rows, want at most %d", f.Name, f.Rows, most)
	}
	records, err := unpack(columns, f.data, f.Rows)
	if err != nil {
		return nil, fmt.Errorf("atlas: %s: %w", f.Name, err)
	}
	return records, nil
}

// cellsOf returns the cells of both tables. An error names the row with a
// number that stands for nothing.
func cellsOf(n names, errorTable, boundTable File) (cells []Cell, err error) {
	records, err := rowsOf(cellColumns, errorTable)
	if err != nil {
		return nil, err
	}
	bounds, err := rowsOf(boundColumns, boundTable)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		if r.machine >= len(n.Machines) || r.data >= len(n.Data) || r.why >= len(n.Why) {
			return nil, fmt.Errorf("atlas: row %d of %s: machine %d, data %d, why %d, and names.json has %d, %d and %d",
				i, errorTable.Name, r.machine, r.data, r.why, len(n.Machines), len(n.Data), len(n.Why))
		}
		c := r.Cell
		c.Machine, c.Data, c.Why = n.Machines[r.machine], n.Data[r.data], n.Why[r.why]
		cells = append(cells, c)
	}
	for i, r := range bounds {
		if r.cell < 0 || r.cell >= len(cells) || r.ranges > 1 || r.bound >= len(n.Bounds) || r.verdict >= len(n.Verdicts) {
			return nil, fmt.Errorf("atlas: row %d of %s: cell %d, bound %d, ranges %d, verdict %d, and there are %d cells, %d bounds and %d verdicts",
				i, boundTable.Name, r.cell, r.bound, r.ranges, r.verdict, len(cells), len(n.Bounds), len(n.Verdicts))
		}
		b, named := r.Bound, n.Bounds[r.bound]
		b.Name, b.Deterministic, b.Ranges, b.Verdict = named.Name, named.Deterministic, r.ranges != 0, sweep.Verdict(n.Verdicts[r.verdict])
		cells[r.cell].Bounds = append(cells[r.cell].Bounds, b)
	}
	return cells, nil
}
