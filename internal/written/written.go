// Package written compares what documents contain with what the code says.
package written

import (
	"os"
	"strings"
	"testing"
)

// Part fails unless the part of a document between <!-- name --> and
// <!-- end of name --> is the text. With update, it writes the text there.
func Part(t testing.TB, file, name, text string, update bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	head, rest, ok := strings.Cut(string(data), begin)
	found, tail, ended := strings.Cut(rest, end)
	switch {
	case !ok || !ended:
		t.Fatalf("%s has no %s between %q and %q", file, name, begin, end)
	case found == text:
	case update:
		if err := os.WriteFile(file, []byte(head+begin+text+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the %s in %s are not those of the code; -update writes them", name, file)
	}
}
