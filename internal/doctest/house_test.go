package doctest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The diagram of packages in CONTRIBUTING.md shows every package of the module
// and every import between them.
func TestTheHouseIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, _ := strings.Cut(string(text), "```\n")
	drawing, _, _ = strings.Cut(drawing, "```")
	drawn := map[string][]string{}
	name := ""
	for line := range strings.Lines(drawing) {
		if m := room.FindStringSubmatch(line); m != nil {
			name = path.Base(m[1])
		}
		if _, arrows, ok := strings.Cut(line, "<-"); ok {
			if drawn[name] != nil {
				t.Errorf("%s is drawn twice", name)
			}
			drawn[name] = append([]string{}, strings.Fields(strings.ReplaceAll(arrows, ",", " "))...)
			slices.Sort(drawn[name])
		}
	}

	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "../../pkg/...", "../../cmd/...", "../../internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const ours = "github.com/roundofflab/roundoff/"
	found := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, imports := path.Base(p.ImportPath), []string{}
		if path.Base(path.Dir(p.ImportPath)) == "cmd" { // not a package of that name
			name += " command"
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, ours) {
				imports = append(imports, path.Base(i))
			}
		}
		slices.Sort(imports)
		found++
		if got, ok := drawn[name]; !ok || !slices.Equal(got, imports) {
			t.Errorf("%s imports %v, drawn %v, %v", p.ImportPath, imports, got, ok)
		}
	}
	if found != len(drawn) {
		t.Errorf("%d rooms are drawn, there are %d", len(drawn), found)
	}
}

// room matches a line of the diagram that begins the entry of a package.
var room = regexp.MustCompile(`^([a-z/]+(?: command)?)   *\S`)
