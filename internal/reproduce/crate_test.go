package reproduce

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crate returns the entities of the crate in a folder, by name.
func crate(t *testing.T, out string) map[string]entity {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, crateName))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Graph []entity `json:"@graph"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	all := map[string]entity{}
	for _, e := range c.Graph {
		id := e["@id"].(string)
		if all[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		all[id] = e
	}
	return all
}

// The crate of a run has each of its files with the size and the checksum that
// it has, refers to what it has alone, and is drawn again with the page.
func TestCrate(t *testing.T) {
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS("testdata/out")); err != nil {
		t.Fatal(err)
	}
	if err := fixture(t).save(out); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		entities := crate(t, out)
		files := 0
		err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
			id, _ := filepath.Rel(out, path)
			id = filepath.ToSlash(id)
			if err != nil || d.IsDir() || id == crateName {
				return err
			}
			files++
			data, err := os.ReadFile(path)
			e := entities[id]
			if e["sha256"] != fmt.Sprintf("%x", sha256.Sum256(data)) || e["contentSize"] != fmt.Sprint(len(data)) || e["encodingFormat"] == "" || e["description"] == "" {
				t.Errorf("%s: %v", id, e)
			}
			return err
		})
		if parts := entities["./"]["hasPart"].([]any); err != nil || len(parts) != files || files < 12 {
			t.Errorf("%d parts, %d files, %v", len(parts), files, err)
		}
		for _, e := range entities {
			for _, property := range []string{"about", "license", "isBasedOn", "mentions", "instrument", "result"} {
				if to, ok := e[property].(map[string]any); ok && entities[to["@id"].(string)] == nil {
					t.Errorf("%s of %s is %v, which is not there", property, e["@id"], to)
				}
			}
		}
	}
	check()
	if run := crate(t, out)["#run"]; !strings.HasPrefix(run["startTime"].(string), "20") || run["startTime"].(string) >= run["endTime"].(string) {
		t.Errorf("%v", run)
	}
	if err := os.MkdirAll(filepath.Join(out, "html"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(out, "html", "01-first.html")
	if err := os.WriteFile(page, []byte("x"), 0o644); err != nil { // which the page then leads to
		t.Fatal(err)
	}
	if _, err := Redraw(out); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(page); err != nil { // it is no file of the run
		t.Fatal(err)
	}
	check()
	if known := crate(t, out); slices.ContainsFunc([]string{"html/01-first.html", "site/playground.html"}, func(name string) bool { return known[name] != nil }) {
		t.Error("the crate has pages that were made later")
	}
}
