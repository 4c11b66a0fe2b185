package reproduce

import (
	"os"
	"regexp"
	"testing"
)

// The kernel and the cells use the same version of GoNB. A cell built with one
// version cannot display results in a kernel of another, since their protocol
// has no version of its own.
func TestTools_pin_the_gonb_that_cells_import(t *testing.T) {
	pinned := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^\s*(?:require )?github\.com/janpfeifer/gonb (v\S+)`).FindSubmatch(data)
		if m == nil {
			t.Fatalf("%s does not require gonb", path)
		}
		return string(m[1])
	}
	if cells, tool := pinned("../../go.mod"), pinned("../../tools/go.mod"); cells != tool {
		t.Errorf("go.mod requires gonb %s, tools/go.mod %s", cells, tool)
	}
}
