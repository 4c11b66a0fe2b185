package atlaspage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// What the script reads are the numbers of the atlas, to three digits, and the
// table without scripts has a row for each machine.
func TestPage_has_the_atlas(t *testing.T) {
	a, err := atlas.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	page, err := Page(a)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`id="packed">([^<]*)<`).FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no data")
	}
	packed, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var p table
	if err := json.NewDecoder(z).Decode(&p); err != nil {
		t.Fatal(err)
	}
	near := func(x number, y float64) bool { return math.Abs(float64(x)-y) <= 5.1e-3*math.Abs(y) }
	row := 0
	for i, c := range a.Cells {
		at := fmt.Sprintf("%s, %s, K = %d", c.Machine, c.Data, c.K)
		if got := fmt.Sprintf("%s, %s, K = %d", p.Devices[p.Machine[i]].Name, p.Data[p.Of[i]], p.Ks[p.K[i]]); got != at {
			t.Fatalf("cell %d is %s, want %s", i, got, at)
		}
		if p.Outputs[i] != c.Outputs || p.Why[i] != c.Why || !near(p.RMS[i], c.RMS()) || !near(p.Mean[i], c.Mean) || !near(p.Largest[i], c.Largest) || p.First[i] != row {
			t.Fatalf("%s: the page has %d, %v, %v, %v, bounds from %d", at, p.Outputs[i], p.RMS[i], p.Mean[i], p.Largest[i], p.First[i])
		}
		for _, b := range c.Bounds {
			of, _ := bound.Find(b.Name)
			n := p.Bounds[p.Bound[row]]
			if n.Name != b.Name || n.Needs != int(of.Needs) || n.Sure != b.Deterministic || (p.Ranges[row] == 1) != b.Ranges ||
				[]string{"holds", "machine", "data"}[p.Verdict[row]] != string(b.Verdict) || p.Violations[row] != b.Violations ||
				!near(p.Tau[row], b.Tightness) || !near(p.Constant[row], b.Constant) && !math.IsInf(b.Constant, 0) {
				t.Fatalf("%s: the page has %+v, τ %v, constant %v, want %+v", at, n, p.Tau[row], p.Constant[row], b)
			}
			row++
		}
	}
	if p.First[len(a.Cells)] != row || len(p.Bound) != row {
		t.Errorf("%d bounds, want %d", len(p.Bound), row)
	}
	for i, d := range a.Devices {
		if p.Devices[i].Name != d.Name || p.Devices[p.Devices[i].Machine].Name != d.Machine {
			t.Errorf("device %d is %+v, want %+v", i, p.Devices[i], d)
		}
	}
	for i, c := range a.Recipes {
		q, at := p.Quantised, fmt.Sprintf("%s, %s, %s, K = %d", c.Machine, c.Recipe, c.Data, c.K)
		if got := fmt.Sprintf("%s, %s, %s, K = %d", q.Units[q.Unit[i]], q.Recipes[q.Recipe[i]].Name, p.Data[q.Of[i]], q.Ks[q.K[i]]); got != at {
			t.Fatalf("cell %d with recipes is %s, want %s", i, got, at)
		}
		lost, _ := c.OnQuantisation(sweep.FromDistribution)
		law, _ := c.Tightest(sweep.FromDistribution)
		given, _ := c.Tightest(sweep.FromMatrices)
		for name, pair := range map[string]struct {
			got  number
			want float64
		}{
			"RMS": {q.RMS[i], c.RMS()}, "lost": {q.Lost[i], c.Quantised.RMS()}, "accumulated": {q.Accumulated[i], c.Accumulated.RMS()},
			"lost, law": {q.LostLaw[i], lost.Constant}, "law": {q.Law[i], law.Constant}, "τ of law": {q.LawTau[i], law.Tightness},
			"given": {q.Given[i], given.Constant}, "τ of given": {q.GivenTau[i], given.Tightness},
		} {
			if !near(pair.got, pair.want) {
				t.Fatalf("%s: the page has %s %v, want %v", at, name, pair.got, pair.want)
			}
		}
		if c.Accumulated.RMS() > 0 && !near(q.Share[i], c.Share()) || q.Outputs[i] != c.Outputs || q.Why[i] != c.Why {
			t.Fatalf("%s: the page has the share %v of %d outputs, want %v of %d", at, q.Share[i], q.Outputs[i], c.Share(), c.Outputs)
		}
	}
	if len(p.Quantised.RMS) != len(a.Recipes) || len(a.Recipes) == 0 {
		t.Errorf("%d cells with recipes, want %d", len(p.Quantised.RMS), len(a.Recipes))
	}
	text := string(page)
	for _, name := range a.RecipeNames() {
		if !strings.Contains(text, `<tr><th scope="row">`+name+"</th>") {
			t.Errorf("no row of %s", name)
		}
	}
	for _, m := range a.Machines() {
		if !strings.Contains(text, `<tr><th scope="row">`+m.Name+"</th>") {
			t.Errorf("no row of %s", m.Name)
		}
	}
	for _, what := range []string{`src=`, `href=`, `http:`, `https:`, "@import", "url("} {
		if strings.Contains(text, what) {
			t.Errorf("the page has %q, and is to need nothing else", what)
		}
	}
}

// What the script reads are lists, also where there is nothing.
func TestTable_of_nothing_has_lists(t *testing.T) {
	q, err := quantisedOf(&atlas.Atlas{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	z := tableOf(&atlas.Atlas{})
	z.Quantised = q
	text, err := json.Marshal(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{`"bounds":[]`, `"machine":[]`, `"first":[0]`, `"recipes":[]`, `"units":[]`, `"recipe":[]`} {
		if !strings.Contains(string(text), list) {
			t.Errorf("no %s in %s", list, text)
		}
	}
}

// The page is the same for the same atlas.
func TestPage_depends_on_the_atlas_alone(t *testing.T) {
	a, err := atlas.Read(os.DirFS("../../pkg/atlas/data"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := Page(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Page(a)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("two pages of one atlas differ, %v", err)
	}
	a.Version = "<v>"
	if other, err = Page(a); err != nil || bytes.Contains(other, []byte("<v>")) || !bytes.Contains(other, []byte("&lt;v&gt;")) {
		t.Errorf("the version is written as it stands, %v", err)
	}
}
