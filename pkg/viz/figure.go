package viz

import (
	"fmt"
	"regexp"
	"strings"
)

// Figure is a Chart, a Schematic or a Table.
type Figure interface {
	// Name returns the stem of the names of the figure's files, such as
	// "fig5-mac-edf".
	Name() string
	// Finding returns one sentence that states what the figure shows.
	Finding() string
	// Details returns the conditions of the experiment: machine, sizes, data, seed.
	// It may be empty.
	Details() string
	// SVG returns the figure as a vector image, whose bytes depend on the data
	// alone.
	SVG() ([]byte, error)
	// PNG returns the same picture with two pixels per unit of the SVG.
	PNG() ([]byte, error)
	// CSV returns the numbers (or the parts) that are drawn, with a header line.
	CSV() ([]byte, error)
}

// Caption returns the text below f: the finding, then the details.
func Caption(f Figure) string { return strings.TrimSpace(f.Finding() + " " + f.Details()) }

// title is the part that all figures share: name and caption.
type title struct{ name, finding, details string }

var stem = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func newTitle(name, finding, details string) title {
	check(stem.MatchString(name), "name = %q, want letters, digits, - and _", name)
	check(strings.TrimSpace(finding) != "", "finding of %s is empty", name)
	return title{name, finding, details}
}

// Name returns the stem of the names of the figure's files.
func (t title) Name() string { return t.name }

// Finding returns the sentence that states what the figure shows.
func (t title) Finding() string { return t.finding }

// Details returns the conditions of the experiment.
func (t title) Details() string { return t.details }

// summary returns the finding without its full stop, as the alternative text of
// the picture.
func (t title) summary() string { return strings.TrimSuffix(t.finding, ".") }

// check panics with the package's name and the message unless ok.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic("viz: " + fmt.Sprintf(format, args...))
	}
}
