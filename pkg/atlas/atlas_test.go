package atlas

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

const comment = "roundoff sweep -atlas -seeds 5:6\nroundoff v1"

// swept returns the rows of a small sweep as their file has them: of a machine
// that flushes, two that compute the same, and data that not all of them take;
// and after them those of recipes, on a machine of these and in integers.
var swept = sync.OnceValue(func() []sweep.Row {
	var machines []tcore.Machine
	for _, name := range []string{"ampere-mma-binary16-binary32", "ada-mma-binary16-binary32", "arm-bfdot-bfloat16-binary32", "blackwell-tcgen05-mxe2m1-binary32"} {
		m, err := sweep.FindMachine(name)
		if err != nil {
			panic(err)
		}
		machines = append(machines, m)
	}
	blocks, err := sweep.FindGenerator("blocks(-4,4,N(0,1))")
	if err != nil {
		panic(err)
	}
	rows, err := sweep.Plan{Machines: machines, Data: []sweep.Generator{sweep.Normal, blocks}, M: 4, N: 2, Ks: []int{5, 40},
		Seeds: []uint64{5, 6}, Confidences: []float64{0.9}, Ranges: true}.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	p := sweep.Plan{Machines: []tcore.Machine{machines[3], sweep.Integers}, Data: []sweep.Generator{sweep.Normal, blocks}, M: 4, N: 2, Ks: []int{32, 64},
		Seeds: []uint64{5, 6}, Confidences: []float64{0.9}, Told: []sweep.Told{sweep.FromDistribution, sweep.FromMatrices}}
	for _, name := range []string{"mxe2m1-floor", "mxe2m1-rceil", "int8-row"} {
		r, err := sweep.FindRecipes(name)
		if err != nil {
			panic(err)
		}
		p.Recipes = append(p.Recipes, r)
	}
	quantised, err := p.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	if err := sweep.Write(&b, comment, append(rows, quantised...)); err != nil {
		panic(err)
	}
	rows, _, err = sweep.Read(&b)
	if err != nil {
		panic(err)
	}
	return rows
})

// folder returns the files of an atlas.
func folder(t *testing.T, a *Atlas) fstest.MapFS {
	t.Helper()
	files, err := a.Pack()
	if err != nil {
		t.Fatal(err)
	}
	m := fstest.MapFS{}
	for _, f := range files {
		m[f.Name] = &fstest.MapFile{Data: f.Data()}
	}
	return m
}

func made(t *testing.T) *Atlas {
	t.Helper()
	a, err := New(swept(), comment)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Every number of every row is in the columns, to half a unit of binary32.
func TestColumns_have_the_rows(t *testing.T) {
	a, err := Read(folder(t, made(t)))
	if err != nil {
		t.Fatal(err)
	}
	if a.Version != "v1" || a.Command != "roundoff sweep -atlas -seeds 5:6" || !slices.Equal(a.Seeds, []uint64{5, 6}) || a.M != 4 || a.N != 2 || a.Confidence != 0.9 {
		t.Errorf("the manifest says %+v", a.Manifest)
	}
	near := func(got, want float64) bool {
		return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 0x1p-24*math.Abs(want)
	}
	var at Cell
	n := 0
	for _, r := range plain(swept()) {
		d, ok := a.Device(r.Machine)
		if !ok {
			t.Fatalf("there is no %s", r.Machine)
		}
		if r.Bound == sweep.ErrorRow {
			cells := a.Select(Query{Device: r.Machine, Data: r.Data, K: r.K})
			if len(cells) != 1 || n < len(at.Bounds) {
				t.Fatalf("%s, %s, K = %d: %d cells, after %d bounds of %d", r.Machine, r.Data, r.K, len(cells), n, len(at.Bounds))
			}
			at, n = cells[0], 0
			if at.Machine != d.Machine || at.Runs != r.Runs || at.Outputs != r.Outputs || at.Skipped != r.Skipped || at.Why != r.Why {
				t.Errorf("%+v, want %+v", at, r)
			}
			if !near(at.Tightness, r.Tightness) || !near(at.Largest, r.Largest) {
				t.Errorf("%+v, want %+v", at, r)
			}
			if r.Outputs > 0 && (!near(at.Median, r.Median()) || !near(at.Mean, r.Mean()) || !near(at.Spread, r.Spread()) || !near(at.Slope, r.Slope())) {
				t.Errorf("%+v, want median %v, mean %v, spread %v, slope %v", at, r.Median(), r.Mean(), r.Spread(), r.Slope())
			}
			continue
		}
		b := at.Bounds[n]
		n++
		if b.Name != r.Bound || b.Deterministic != r.Deterministic || b.Ranges != r.Ranges || b.Verdict != r.Verdict || b.Runs != r.Runs ||
			b.Failed != r.Failed || b.Outputs != r.Outputs || b.Violations != r.Violations ||
			!near(b.Tightness, r.Tightness) || !near(b.Largest, r.Largest) || !near(b.Constant, r.Constant) {
			t.Errorf("%s, %s, K = %d: %+v, want %+v", r.Machine, r.Data, r.K, b, r)
		}
	}
}

// plain returns the rows without recipes.
func plain(rows []sweep.Row) []sweep.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r sweep.Row) bool { return r.Recipe != "" })
}

// Every number of every row of a recipe is in the columns, and so is what the
// recipe is.
func TestColumns_have_the_rows_of_recipes(t *testing.T) {
	a, err := Read(folder(t, made(t)))
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return got == want || math.Abs(got-want) <= 0x1p-24*math.Abs(want) }
	var at RecipeCell
	n, cells := 0, 0
	for _, r := range swept() {
		switch {
		case r.Recipe == "":
		case r.Bound == sweep.ErrorRow:
			found := a.SelectRecipes(Query{Device: r.Machine, Recipe: r.Recipe, Data: r.Data, K: r.K})
			if len(found) != 1 || n < len(at.Bounds) {
				t.Fatalf("%s, %s, %s, K = %d: %d cells, after %d bounds of %d", r.Machine, r.Recipe, r.Data, r.K, len(found), n, len(at.Bounds))
			}
			at, n, cells = found[0], 0, cells+1
			if at.Runs != r.Runs || at.Outputs != r.Outputs || at.Skipped != r.Skipped || at.Why != r.Why || !near(at.Tightness, r.Tightness) || !near(at.Largest, r.Largest) {
				t.Errorf("%+v, want %+v", at, r)
			}
			if r.Outputs == 0 {
				continue
			}
			q, s := r.Quantised, r.Accumulated
			for i, pair := range [][2]float64{
				{at.Median, r.Median()}, {at.Mean, r.Mean()}, {at.Spread, r.Spread()},
				{at.Quantised.Mean, q.Mean()}, {at.Quantised.Spread, q.Spread()}, {at.Quantised.Largest, q.Largest},
				{at.Accumulated.Mean, s.Mean()}, {at.Accumulated.Spread, s.Spread()}, {at.Accumulated.Largest, s.Largest},
			} {
				if !near(pair[0], pair[1]) {
					t.Errorf("%s, %s, %s: number %d is %v, want %v", r.Machine, r.Recipe, r.Data, i, pair[0], pair[1])
				}
			}
			accumulated, quantised := math.Pow(s.Mean(), 2)+math.Pow(s.Spread(), 2), math.Pow(q.Mean(), 2)+math.Pow(q.Spread(), 2)
			if share := at.Share(); math.Abs(share-accumulated/(accumulated+quantised)) > 1e-6*share {
				t.Errorf("%s, %s: the share of sums is %v, want %v of %v", r.Machine, r.Recipe, share, accumulated, quantised)
			}
		default:
			b := at.Bounds[n]
			n++
			if b.Name != r.Bound || b.Deterministic != r.Deterministic || b.Told != r.Told || b.Verdict != r.Verdict || b.Runs != r.Runs ||
				b.Failed != r.Failed || b.Outputs != r.Outputs || b.Violations != r.Violations || !near(b.Tightness, r.Tightness) ||
				!near(b.Largest, r.Largest) || !near(b.Constant, r.Constant) || !near(b.Conversion, r.Conversion) {
				t.Errorf("%s, %s, K = %d: %+v, want %+v", r.Machine, r.Recipe, r.K, b, r)
			}
		}
	}
	if cells != len(a.Recipes) || cells != 12 {
		t.Errorf("%d cells with recipes, want 12, those of %d rows", len(a.Recipes), cells)
	}
	if got := a.RecipeNames(); !slices.Equal(got, []string{"mxe2m1-floor", "mxe2m1-rceil", "int8-row"}) {
		t.Errorf("recipes %q", got)
	}
	r, err := FindRecipe("deepgemm-1x128:nvfp4-te-1x16")
	if err != nil || r.A.Element != "e4m3" || r.A.Block != "1×128" || r.A.Tensor != "" || r.B.Scale != "ue4m3" || r.B.Tensor != "binary32" || r.B.Source == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := FindRecipe("e4m3"); err == nil {
		t.Error("there is a recipe e4m3")
	}
}

// What is tightest of a cell with a recipe is what the rows have, of all bounds
// on the whole that are told as much; and that on quantisation stands apart.
func TestRecipeCell_agrees_with_sweep(t *testing.T) {
	a := made(t)
	for _, c := range a.Recipes {
		for _, told := range tellings {
			var whole, part []float64
			for _, r := range c.Rows(a.Manifest) {
				if r.Told != told || r.Verdict != sweep.Holds || r.Recipe != c.Recipe || !r.Represented {
					continue
				}
				if r.Bound == sweep.QuantisationRow {
					part = append(part, r.Constant)
				} else {
					whole = append(whole, r.Tightness)
				}
			}
			best, ok := c.Tightest(told)
			if ok != (whole != nil) || ok && best.Tightness != slices.Max(whole) {
				t.Errorf("%s, %s told %v: %v %+v, want the largest of %v", c.Machine, c.Recipe, told, ok, best, whole)
			}
			on, ok := c.OnQuantisation(told)
			if ok != (len(part) == 1) || ok && on.Constant != part[0] {
				t.Errorf("%s, %s told %v: %v %+v, want %v", c.Machine, c.Recipe, told, ok, on, part)
			}
		}
	}
}

// A device that was not swept with recipes, as it computes like another that
// was, has the cells of that; and two that were swept and differ stay apart,
// though they are alike without recipes.
func TestNew_gathers_recipes(t *testing.T) {
	const first, second = "ampere-mma-binary16-binary32", "ada-mma-binary16-binary32"
	of := func(machine string, largest float64) []sweep.Row {
		r := sweep.Row{Machine: machine, Recipe: "int8-row", Data: "N(0,1)", M: 4, N: 2, K: 8, Represented: true, Bound: sweep.ErrorRow, Verdict: sweep.Holds, Seeds: []uint64{5}}
		r.Runs, r.Outputs, r.Largest = 1, 8, largest
		return []sweep.Row{r}
	}
	for _, c := range []struct {
		more     []sweep.Row
		machine  string // of the second
		cells    int
		selected float64
	}{
		{of(first, 0.5), first, 1, 0.5}, {slices.Concat(of(first, 0.5), of(second, 0.5)), first, 1, 0.5},
		{slices.Concat(of(first, 0.5), of(second, 0.25)), second, 2, 0.25}, {of(second, 0.25), second, 1, 0.25},
	} {
		a, err := New(append(plain(swept()), c.more...), comment)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := a.Device(second)
		found := a.SelectRecipes(Query{Device: second})
		if d.Machine != c.machine || len(a.Recipes) != c.cells || len(found) != 1 || found[0].Largest != c.selected {
			t.Errorf("%s computes as %s, and has %+v of %d cells; want %s and %v of %d", second, d.Machine, found, len(a.Recipes), c.machine, c.selected, c.cells)
		}
	}
}

// What is tightest of a cell is what package sweep finds, and so are the counts
// those of the rows.
func TestCell_agrees_with_sweep(t *testing.T) {
	a := made(t)
	want := Count{Devices: 4, Machines: 3, Cells: len(a.Cells), Recipes: 3, RecipeCells: len(a.Recipes)}
	seen := false
	for _, c := range a.Cells {
		rows := c.Rows(a.Manifest)
		for knows := bound.Nothing; knows <= bound.Trace; knows++ {
			best, ok := c.Tightest(knows)
			r, want := sweep.Tightest(rows, knows)
			if ok != want || best.Name != r.Bound || best.Tightness != r.Tightness || best.Ranges != r.Ranges {
				t.Errorf("%s, %s, K = %d, %v: %v %+v, want %v %+v", c.Machine, c.Data, c.K, knows, ok, best, want, r)
			}
			seen = seen || ok && best.Ranges
			random, certain, exceeded := c.Claimed(knows)
			for _, r := range rows {
				if of, _ := bound.Find(r.Bound); of.Needs <= knows && r.Verdict == sweep.Holds && r.Bound != bound.Exact.Name {
					if r.Deterministic {
						certain--
					} else {
						random--
					}
					exceeded -= min(1, r.Violations)
				}
			}
			if random != 0 || certain != 0 || exceeded != 0 {
				t.Errorf("%s, %s, K = %d, %v: claims differ by %d, %d, %d", c.Machine, c.Data, c.K, knows, random, certain, exceeded)
			}
		}
		if got, want := c.RMS(), math.Sqrt(c.Mean*c.Mean+c.Spread*c.Spread); math.Abs(got-want) > 1e-12*want {
			t.Errorf("RMS %v, want %v", got, want)
		}
	}
	if !seen {
		t.Error("no bound is tightest that is told sizes, want that of the machine that flushes")
	}
	for _, r := range swept() {
		if d, ok := a.Device(r.Machine); ok && d.Machine != r.Machine {
			continue
		}
		switch {
		case r.Bound == sweep.ErrorRow:
			want.Products, want.Outputs, want.Skipped = want.Products+r.Runs, want.Outputs+r.Outputs, want.Skipped+r.Skipped
			if r.Outputs == 0 {
				want.Unjudged++
			}
		default:
			if r.Recipe == "" {
				want.Bounds++
			} else {
				want.RecipeBounds++
			}
			if r.Verdict == sweep.Holds {
				want.Claimed++
			}
		}
	}
	if got := a.Count(); got != want || want.Unjudged == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Of rows that say that a bound fails, the counts say so.
func TestCount_tells_violations(t *testing.T) {
	for _, quantised := range []bool{false, true} {
		rows := slices.Clone(swept())
		i := slices.IndexFunc(rows, func(r sweep.Row) bool {
			return r.Bound != sweep.ErrorRow && r.Deterministic && r.Verdict == sweep.Holds && (r.Recipe != "") == quantised
		})
		rows[i].Violations, rows[i].Failed = 3, 1
		a, err := New(rows, comment)
		if err != nil {
			t.Fatal(err)
		}
		if n := a.Count(); n.Exceeded != 1 || n.Violated != 1 {
			t.Errorf("%+v, want one bound that is exceeded and violated", n)
		}
	}
}

func TestQuery(t *testing.T) {
	a := made(t)
	for _, c := range []struct {
		q     Query
		cells int
	}{
		{Query{}, 12}, {Query{K: 5}, 6}, {Query{Data: "N(0,1)"}, 6}, {Query{Format: "binary16"}, 4}, {Query{Device: "ada"}, 4},
		{Query{Device: "ada-mma"}, 4}, {Query{Device: "ad"}, 0}, {Query{Device: "ada", Format: "e4m3"}, 0}, {Query{Device: "arm", Data: "N(0,1)", K: 40}, 1}, {Query{K: 6}, 0}, {Query{Recipe: "int8-row"}, 0},
	} {
		if got := len(a.Select(c.q)); got != c.cells {
			t.Errorf("%+v: %d cells, want %d", c.q, got, c.cells)
		}
	}
	for _, c := range []struct {
		q     Query
		cells int
	}{
		{Query{}, 12}, {Query{K: 32}, 6}, {Query{Recipe: "int8-row"}, 4}, {Query{Device: "blackwell"}, 8}, {Query{Device: "int32"}, 4}, {Query{Format: "int8"}, 4},
		{Query{Format: "e2m1", Recipe: "mxe2m1-rceil", Data: "N(0,1)", K: 64}, 1}, {Query{Device: "ada"}, 0}, {Query{Data: "U(0,1)"}, 0},
	} {
		if got := len(a.SelectRecipes(c.q)); got != c.cells {
			t.Errorf("%+v: %d cells with recipes, want %d", c.q, got, c.cells)
		}
	}
}

// refused fails unless the error has the words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want an error with %q", err, w)
		}
	}
}

func TestNew_refuses(t *testing.T) {
	for _, text := range []string{"", "roundoff sweep -k 3", "roundoff sweep -k 3\nroundoff v1\nmore", "roundoff bound\nroundoff v1"} {
		_, err := New(swept(), text)
		refused(t, err, "want those of a command and a version")
	}
	_, err := New(nil, comment)
	refused(t, err, "no rows")
	change := func(i int, f func(*sweep.Row)) []sweep.Row {
		rows := slices.Clone(swept())
		f(&rows[i])
		return rows
	}
	for _, c := range []struct {
		rows []sweep.Row
		want string
	}{
		{swept()[1:], "no row of errors before"},
		{change(0, func(r *sweep.Row) { r.Machine = "other" }), "among those of"},
		{change(2, func(r *sweep.Row) { r.M = 5 }), "M = 5"},
		{change(2, func(r *sweep.Row) { r.Confidence = 0.5 }), "confidence 0.5"},
		{change(2, func(r *sweep.Row) { r.Told = sweep.FromMoments }), "told moments"},
		{change(0, func(r *sweep.Row) { r.Represented = true }), "represented true"},
		{change(0, func(r *sweep.Row) { r.Recipe = "int8-row" }), "represented false"},
		{change(2, func(r *sweep.Row) { r.Recipe = "int8-row" }), "among those of"},
		{change(len(swept())-1, func(r *sweep.Row) { r.Told = sweep.FromFiles }), "told files"},
		{change(2, func(r *sweep.Row) { r.PerOutput = true }), "per output true"},
	} {
		_, err := New(c.rows, comment)
		refused(t, err, c.want)
	}
	rows := slices.Clone(swept())
	for i := range rows {
		rows[i].Machine = strings.Replace(rows[i].Machine, "arm", "leg", 1)
	}
	_, err = New(rows, comment)
	refused(t, err, "leg-bfdot-bfloat16-binary32 is no device of the catalogue")
}

// A byte that is changed, missing or too much in any file is found, and the
// file named.
func TestRead_refuses_what_is_damaged(t *testing.T) {
	whole := folder(t, made(t))
	other := made(t)
	other.Version = "v2"
	for name := range whole {
		for how, data := range map[string][]byte{
			"cut off": whole[name].Data[:len(whole[name].Data)-2],
			"longer":  append(slices.Clone(whole[name].Data), 'x'),
			"changed": changed(whole[name].Data),
			"empty":   nil,
		} {
			m := fstest.MapFS{}
			for n, f := range whole {
				m[n] = f
			}
			m[name] = &fstest.MapFile{Data: data}
			if name == ManifestName && how == "changed" { // one of the letters that JSON takes
				continue
			}
			_, err := Read(m)
			refused(t, err, name)
			delete(m, name)
			_, err = Read(m)
			refused(t, err, "there is no "+name)
		}
	}
	mixed := folder(t, other)
	mixed["README.md"] = whole["README.md"]
	_, err := Read(mixed)
	refused(t, err, "README.md has not the checksum")
}

// changed returns data with one bit in the middle changed.
func changed(data []byte) []byte {
	data = slices.Clone(data)
	data[len(data)/2] ^= 1
	return data
}

// Columns whose checksums are right, and which say what cannot be, are refused.
func TestRead_refuses_what_cannot_be(t *testing.T) {
	for _, c := range []struct {
		name  string
		forge func(cells []cellRecord, bounds []boundRecord, n *names, m *Manifest)
		want  string
	}{
		{"recipe", func(_ []cellRecord, _ []boundRecord, n *names, _ *Manifest) { n.Recipes = n.Recipes[:2] }, "of recipes.npz: machine 3, recipe 2"},
		{"rows of recipes", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files[2].Rows++ }, "recipes.npz: column machine is not a NumPy file of 13 numbers"},
		{"rows of their bounds", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files[3].Rows = most + 1 }, "recipe_bounds.npz of 268435457 rows"},
		{"machine", func(cells []cellRecord, _ []boundRecord, _ *names, _ *Manifest) { cells[1].machine = 9 }, "row 1 of errors.npz: machine 9"},
		{"why", func(cells []cellRecord, _ []boundRecord, _ *names, _ *Manifest) { cells[2].why = 7 }, "row 2 of errors.npz"},
		{"cell", func(cells []cellRecord, b []boundRecord, _ *names, _ *Manifest) { b[3].cell = len(cells) }, "row 3 of bounds.npz"},
		{"ranges", func(_ []cellRecord, b []boundRecord, _ *names, _ *Manifest) { b[3].ranges = 2 }, "ranges 2"},
		{"verdict", func(_ []cellRecord, b []boundRecord, _ *names, _ *Manifest) { b[3].verdict = 3 }, "verdict 3"},
		{"bound", func(_ []cellRecord, b []boundRecord, n *names, _ *Manifest) { n.Bounds = n.Bounds[:b[len(b)-1].bound] }, "of bounds.npz"},
		{"rows", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files[0].Rows++ }, "errors.npz: column machine is not a NumPy file of 13 numbers"},
		{"fewer rows", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files[1].Rows-- }, "bounds.npz: column cell is not"},
		{"negative", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files[1].Rows = -1 }, "bounds.npz of -1 rows"},
		{"not named", func(_ []cellRecord, _ []boundRecord, _ *names, m *Manifest) { m.Files = m.Files[:6] }, "does not name README.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := made(t)
			m := folder(t, a)
			var n names
			var manifest Manifest
			for name, to := range map[string]any{"names.json": &n, ManifestName: &manifest} {
				if err := json.Unmarshal(m[name].Data, to); err != nil {
					t.Fatal(err)
				}
			}
			cells, err := unpack(cellColumns, m["errors.npz"].Data, manifest.Files[0].Rows)
			if err != nil {
				t.Fatal(err)
			}
			bounds, err := unpack(boundColumns, m["bounds.npz"].Data, manifest.Files[1].Rows)
			if err != nil {
				t.Fatal(err)
			}
			c.forge(cells, bounds, &n, &manifest)
			errorTable, err1 := pack(cellColumns, cells)
			boundTable, err2 := pack(boundColumns, bounds)
			text, err3 := encoded(n)
			if err := cmp.Or(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			m["errors.npz"], m["bounds.npz"], m["names.json"] = &fstest.MapFile{Data: errorTable}, &fstest.MapFile{Data: boundTable}, &fstest.MapFile{Data: text}
			for i, f := range manifest.Files {
				sum := sha256.Sum256(m[f.Name].Data)
				manifest.Files[i].SHA256, manifest.Files[i].Bytes = hex.EncodeToString(sum[:]), len(m[f.Name].Data)
			}
			if text, err = encoded(manifest); err != nil {
				t.Fatal(err)
			}
			m[ManifestName] = &fstest.MapFile{Data: text}
			_, err = Read(m)
			refused(t, err, c.want)
		})
	}
}

// So it is with columns of recipes.
func TestRead_refuses_recipes_that_cannot_be(t *testing.T) {
	for want, forge := range map[string]func(cells []recipeRecord, bounds []recipeBoundRecord){
		"row 1 of recipes.npz: machine 9":             func(c []recipeRecord, _ []recipeBoundRecord) { c[1].machine = 9 },
		"row 1 of recipes.npz: machine 0, recipe 3":   func(c []recipeRecord, _ []recipeBoundRecord) { c[1].recipe = 3 },
		"recipe 0, data 7":                            func(c []recipeRecord, _ []recipeBoundRecord) { c[0].data = 7 },
		"why 5, and names.json":                       func(c []recipeRecord, _ []recipeBoundRecord) { c[0].why = 5 },
		"row 2 of recipe_bounds.npz: cell 12":         func(c []recipeRecord, b []recipeBoundRecord) { b[2].cell = len(c) },
		"row 3 of recipe_bounds.npz: cell 0, bound 9": func(_ []recipeRecord, b []recipeBoundRecord) { b[3].bound = 9 },
		"told 2, certain":                             func(_ []recipeRecord, b []recipeBoundRecord) { b[0].told = 2 },
		"certain 2":                                   func(_ []recipeRecord, b []recipeBoundRecord) { b[0].certain = 2 },
		"verdict 3":                                   func(_ []recipeRecord, b []recipeBoundRecord) { b[0].verdict = 3 },
	} {
		n := names{Verdicts: verdicts, Why: []string{""}}
		cells, bounds, err := n.recipeRecords(made(t).Recipes)
		if err != nil {
			t.Fatal(err)
		}
		forge(cells, bounds)
		var tables [2]File
		if err := cmp.Or(table(&tables[0], tableNames[2], recipeColumns, cells), table(&tables[1], tableNames[3], recipeBoundColumns, bounds)); err != nil {
			t.Fatal(err)
		}
		_, err = recipesOf(n, tables[0], tables[1])
		refused(t, err, want)
	}
}

func TestPack_refuses_numbers_that_do_not_fit(t *testing.T) {
	for _, k := range []int{1 << 31, -1} {
		a := made(t)
		a.Cells[0].K = k
		_, err := a.Pack()
		refused(t, err, fmt.Sprintf("k = %v", float64(k)))
	}
	a := made(t)
	a.Cells[0].K = 1<<31 - 1
	if b, err := Read(folder(t, a)); err != nil || b.Cells[0].K != 1<<31-1 {
		t.Error(err)
	}
}

// The recorded atlas is whole, its files are those that its numbers give, data
// sheet included, no claimed bound of it fails, and it is of the plan of the
// atlas with the bounds and devices that there are now.
func TestRecorded(t *testing.T) {
	a, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	files, err := a.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		there, err := data.ReadFile("data/" + f.Name)
		packed := f.Rows > 0 || f.Name == ManifestName // another version of Go may compress in another way
		if err != nil || !bytes.Equal(there, f.Data()) && !packed {
			t.Errorf("%s is not what its numbers give, make atlas: %v", f.Name, err)
		}
	}
	n := a.Count()
	if n.Violated > 0 {
		t.Errorf("%d claimed bounds fail", n.Violated)
	}
	if n.Devices != len(devices.All()) {
		t.Errorf("%d devices, and the catalogue has %d: make atlas", n.Devices, len(devices.All()))
	}
	var sets []string
	for _, p := range sweep.Atlas(a.Seeds) {
		if len(p.Recipes) > 0 {
			recordedRecipes(t, a, p)
			continue
		}
		for _, l := range p.Data {
			sets = append(sets, l.Name)
			for _, k := range p.Ks {
				for _, m := range p.Machines {
					if len(a.Select(Query{Device: m.Name, Data: l.Name, K: k})) == 0 {
						t.Fatalf("%s, %s, K = %d is not in it: make atlas", m.Name, l.Name, k)
					}
				}
			}
		}
	}
	if !slices.Equal(a.Data(), sets) {
		t.Errorf("%q, want %q", a.Data(), sets)
	}
	found := map[string]bool{}
	for _, c := range a.Cells {
		for _, b := range c.Bounds {
			found[b.Name] = true
		}
	}
	for _, b := range bound.Catalogue() {
		if !found[b.Name] {
			t.Errorf("%s is not in it: make atlas", b.Name)
		}
	}
}

// recordedRecipes sees that the atlas has the plan with recipes, each machine
// with those that it takes.
func recordedRecipes(t *testing.T, a *Atlas, p sweep.Plan) {
	t.Helper()
	units, err := p.Units()
	if want := units * len(p.Data) * len(p.Ks); err != nil || len(a.Recipes) != want {
		t.Errorf("%d cells with recipes, want %d: make atlas; %v", len(a.Recipes), want, err)
	}
	for _, r := range p.Recipes {
		for _, l := range p.Data {
			for _, k := range p.Ks {
				if name := sweep.NameRecipes(r); len(a.SelectRecipes(Query{Recipe: name, Data: l.Name, K: k})) == 0 {
					t.Fatalf("%s, %s, K = %d is not in it: make atlas", name, l.Name, k)
				}
			}
		}
	}
	for _, c := range a.Recipes {
		if _, ok := c.OnQuantisation(sweep.FromMatrices); !ok && c.Outputs > 0 {
			t.Errorf("%s, %s, %s, K = %d: no bound on quantisation is told the matrices", c.Machine, c.Recipe, c.Data, c.K)
		}
	}
}

func TestFamilies(t *testing.T) {
	used := map[string]bool{}
	for _, d := range devices.All() {
		used[familyOf(d)] = true
	}
	for _, f := range Families() {
		if !used[f] {
			t.Errorf("no device is of %q", f)
		}
		delete(used, f)
	}
	if len(used) > 0 {
		t.Errorf("%v are not listed", used)
	}
}
