package doctest

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// tracked returns the files of the repository, by their paths from its root.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a clone: ", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

// Comments are wrapped at 80 columns, counted from their slashes. Code, tables
// and outputs in them are as wide as they are.
func TestCommentsHaveOneWidth(t *testing.T) {
	for _, name := range tracked(t) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if generated.Match(text) {
			continue
		}
		for i, line := range wideComments(string(text)) {
			t.Errorf("%s:%d: %d columns: %s", name, i, utf8.RuneCountInString(line), line)
		}
	}
}

// wideComments returns the lines of prose in comments that are wider than 80
// columns, by their numbers.
func wideComments(text string) map[int]string {
	wide := map[int]string{}
	output := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimLeft(line, "\t ")
		if output = strings.HasPrefix(line, "//") && (output || outputs.MatchString(line)); output {
			continue
		}
		if prose.MatchString(line) && utf8.RuneCountInString(line) > 80 {
			wide[i+1] = line
		}
	}
	return wide
}

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	outputs   = regexp.MustCompile(`^// (Unordered output|Output):`)
	prose     = regexp.MustCompile(`^//( |   - |     )[^ ]+( [^ ]+)+$`)
)

func TestWideComments(t *testing.T) {
	long := strings.Repeat("word ", 17) + "word"
	text := "// " + long + "\n\t// " + long + "\n//\t" + long + "\n// Output:\n// " + long + "\nx := 1 // " + long + "\n//   - " + long + "\n"
	if got := wideComments(text); len(got) != 3 || got[1] == "" || got[2] == "" || got[7] == "" {
		t.Errorf("lines %v, want 1, 2 and 7", got)
	}
}

// Programs are built, and not kept.
func TestNoProgramsAreKept(t *testing.T) {
	for _, name := range tracked(t) {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("\x7fELF")) {
			t.Errorf("%s is a program", name)
		}
	}
}
