package elsewhere

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/internal/written"
)

var update = flag.Bool("update", false, "write the table in docs/claims-elsewhere.md anew")

const root = "../../"

var catalogued = sync.OnceValues(Catalogued().Claims)

func claims(t *testing.T) []Claim {
	t.Helper()
	list, err := catalogued()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// find returns the claim of an id.
func find(t *testing.T, id string) Claim {
	t.Helper()
	list := claims(t)
	i := slices.IndexFunc(list, func(c Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("there is no claim %q", id)
	}
	return list[i]
}

// Every claim is complete, and its numbers are as it says.
func TestClaims(t *testing.T) {
	ids := map[string]bool{}
	references, err := os.ReadFile(root + "REFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	year := regexp.MustCompile(`^[A-Z][A-Za-z-]+( et al\.| MX)? 20\d\d`)
	for _, c := range claims(t) {
		if c.Says == "" || c.Data == "" || len(c.Numbers) == 0 || c.Verdict == "" || ids[c.ID] {
			t.Errorf("%s lacks something, or is there twice: %+v", c.ID, c)
		}
		ids[c.ID] = true
		if c.Outcome == Differs || c.Outcome == "" {
			t.Errorf("%s differs: %s", c.ID, c.measured())
		}
		if _, err := os.Stat(root + c.File); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
		for source := range strings.SplitSeq(c.Source, "; ") {
			if cited := year.FindString(source); cited != "" && !strings.Contains(string(references), "**"+cited+".**") {
				t.Errorf("%s: REFERENCES.md has no %q", c.ID, cited)
			}
		}
	}
	if len(ids) != 11 {
		t.Errorf("%d claims, want 11", len(ids))
	}
}

// The numbers lie where the publications, or their authors, have them: in the
// order of the claim, by their place.
func TestNumbersAreThosePublished(t *testing.T) {
	for _, test := range []struct {
		id    string
		place int
		least float64
		most  float64
	}{
		{"result-bits", 0, 14, 14},
		{"result-bits", 2, 24, 24},
		{"aligned-bits", 0, 32, 32},
		{"aligned-bits", 1, 13, 13},
		{"addend-bits", 0, 10, 10},
		{"addend-bits", 2, 0, 0},
		{"two-percent", 0, 1.5, 2}, // N(0,1), least and greatest
		{"two-percent", 1, 1.9, 2.5},
		{"two-percent", 4, 7.5, 8.5}, // U(0,1)
		{"two-percent", 5, 7.5, 8.5},
		{"promotion", 1, 15, 30},
		{"promotion", 3, 100, 150},
		{"fast-accumulation", 3, 20, 30},
		{"long-sums", 0, 40.5, 41.5},
		{"long-sums", 1, 0.05, 0.055},
		{"attention", 0, 3.5, 4.5},
		{"attention", 3, 16.5, 18.5},
		{"attention", 6, 32, 35},
		{"floor-scales", 0, -3.2, -3},
		{"floor-scales", 4, -12.3, -11.9},
		{"two-recipes", 1, -12.3, -11.9},
		{"two-recipes", 2, -0.03, 0.03},
	} {
		n := find(t, test.id).Numbers[test.place]
		if !(test.least <= n.Value && n.Value <= test.most) {
			t.Errorf("%s: %s, want %v to %v", test.id, n, test.least, test.most)
		}
	}
}

// The table of the page is that of the claims. The command go test
// ./pkg/elsewhere -run TestThePage -update writes it.
func TestThePage(t *testing.T) {
	written.Part(t, root+"docs/claims-elsewhere.md", "claims", Markdown(claims(t)), *update)
}

// The file has all claims, or is not there.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write("", claims(t)); err != nil {
		t.Error(err)
	}
	if err := Write(dir, claims(t)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "claims-elsewhere.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []Claim
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i, c := range claims(t) {
		if got := list[i]; got.ID != c.ID || !slices.Equal(got.Numbers, c.Numbers) || got.Outcome != c.Outcome {
			t.Errorf("claim %d is %+v, want %+v", i, got, c)
		}
	}

	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(other, []Claim{{ID: "x", Numbers: []Number{{"y", math.NaN(), ""}}}}); err == nil {
		t.Error("a NaN was written as JSON")
	}
	if left, _ := os.ReadDir(other); len(left) > 0 {
		t.Errorf("a failed write left %v", left)
	}
	if err := Write(path, nil); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// A claim whose numbers are not finite is an error that names it.
func TestNumbersAreFinite(t *testing.T) {
	_, err := Claim{ID: "x", Numbers: []Number{{"y", math.Inf(1), ""}}}.judged(true, Holds, "")
	if err == nil || !strings.Contains(err.Error(), "claim x: y is +Inf") {
		t.Errorf("error %v", err)
	}
}
