package viz

import (
	"fmt"
	"regexp"
	"strings"
)

// Figure is what can be shown: a Chart, a Schematic or a Table.
type Figure interface {
	// Name is the stem of the figure's files, such as "fig5-mac-edf".
	Name() string
	// Finding says in one sentence what is to be seen.
	Finding() string
	// Details says under which conditions: machine, sizes, data, seed; it may be
	// empty.
	Details() string
	// SVG draws the figure as a vector image; the bytes depend on nothing but the
	// data.
	SVG() ([]byte, error)
	// PNG draws the same picture with two pixels per unit of the SVG.
	PNG() ([]byte, error)
	// CSV holds the numbers (or the parts) that are drawn, with a header line.
	CSV() ([]byte, error)
}

// Caption returns the text that stands below f: the finding, then the details.
func Caption(f Figure) string { return strings.TrimSpace(f.Finding() + " " + f.Details()) }

// title is what every figure has: a name, and what it says.
type title struct{ name, finding, details string }

var stem = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func newTitle(name, finding, details string) title {
	check(stem.MatchString(name), "name = %q, want letters, digits, - and _", name)
	check(strings.TrimSpace(finding) != "", "finding of %s is empty", name)
	return title{name, finding, details}
}

// Name returns the stem of the figure's files.
func (t title) Name() string { return t.name }

// Finding returns the sentence that says what is to be seen.
func (t title) Finding() string { return t.finding }

// Details returns the conditions under which it was found.
func (t title) Details() string { return t.details }

// summary returns the finding as a title, which stands for the picture where it
// cannot be seen.
func (t title) summary() string { return strings.TrimSuffix(t.finding, ".") }

// check panics with the package's name and the message unless ok holds.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic("viz: " + fmt.Sprintf(format, args...))
	}
}
