package viz

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Figure is what can be shown: a Chart, a Schematic or a Table.
type Figure interface {
	// Name is the stem of the figure's files, such as "fig5-mac-edf".
	Name() string
	// Caption says the finding first, then the conditions it was found under.
	Caption() string
	// SVG draws the figure as a vector image; the bytes depend on nothing but the data.
	SVG() ([]byte, error)
	// PNG draws the same picture with two pixels per unit of the SVG.
	PNG() ([]byte, error)
	// CSV holds the numbers (or the parts) that are drawn, with a header line.
	CSV() ([]byte, error)
}

// Finding returns the first sentence of the caption of f, without its full stop:
// the text that stands for the picture where it cannot be seen.
func Finding(f Figure) string {
	s := f.Caption()
	for i := range s {
		if strings.HasPrefix(s[i:], ". ") && endsSentence(s[:i], s[i+2:]) {
			return s[:i]
		}
	}
	return strings.TrimSuffix(s, ".")
}

// endsSentence reports whether a full stop between head and tail ends a
// sentence: what follows starts large or with a number, and what precedes is no
// abbreviation.
func endsSentence(head, tail string) bool {
	word := head[strings.LastIndexAny(head, " (")+1:]
	next, _ := utf8.DecodeRuneInString(tail)
	return !abbreviation.MatchString(word) && !unicode.IsLower(next)
}

var abbreviation = regexp.MustCompile(`^(Fig|vs|No|Eq|\pL(\.\pL)+)$`)

// title is the name and the caption, which every figure has.
type title struct{ name, caption string }

var stem = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func newTitle(name, caption string) title {
	check(stem.MatchString(name), "name = %q, want letters, digits, - and _", name)
	check(strings.TrimSpace(caption) != "", "caption of %s is empty", name)
	return title{name, caption}
}

// Name returns the stem of the figure's files.
func (t title) Name() string { return t.name }

// Caption returns the text below the figure.
func (t title) Caption() string { return t.caption }

// check panics with the package's name and the message unless ok holds.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic("viz: " + fmt.Sprintf(format, args...))
	}
}
