package written

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// reports keeps what a test is told.
type reports struct {
	testing.TB
	said string
}

func (r *reports) Helper()                           {}
func (r *reports) Errorf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }
func (r *reports) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func TestPart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	const page = "head\n<!-- claims -->\nold\n<!-- end of claims -->\ntail\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(name, text string, update bool) string {
		r := &reports{TB: t}
		Part(r, file, name, text, update)
		return r.said
	}
	for _, test := range []struct {
		name, text string
		update     bool
		said, page string
	}{
		{"claims", "old\n", false, "", page},
		{"claims", "new\n", false, "the claims in " + file + " are not those of the code; -update writes them", page},
		{"rules", "new\n", true, file + ` has no rules between "<!-- rules -->\n" and "<!-- end of rules -->"`, page},
		{"claims", "new\n", true, "", "head\n<!-- claims -->\nnew\n<!-- end of claims -->\ntail\n"},
	} {
		if said := says(test.name, test.text, test.update); said != test.said {
			t.Errorf("%s, %q: said %q, want %q", test.name, test.text, said, test.said)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != test.page {
			t.Errorf("%s, %q: %q, %v, want %q", test.name, test.text, data, err, test.page)
		}
	}
}
