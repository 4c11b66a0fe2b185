package drawn

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/roundofflab/roundoff/internal/typeset"
)

// MostWords is how many words a caption may have.
const MostWords = 60

// Captioned is a figure of package viz with its caption.
type Captioned interface {
	Name() string
	Finding() string
	Details() string
}

// Captions fails for every figure whose caption has [Faults].
func Captions[F Captioned](t testing.TB, figures ...F) {
	t.Helper()
	for _, f := range figures {
		for _, fault := range Faults(f.Finding(), f.Details()) {
			t.Errorf("caption of %s %s: %s %s", f.Name(), fault, f.Finding(), f.Details())
		}
	}
}

// Faults returns what is wrong with a caption, or nil. Its finding is to be one
// sentence that begins with a capital and ends with a full stop; the details
// are sentences. Both together have at most [MostWords] words, name nothing of
// the code and write numbers as package typeset does.
func Faults(finding, details string) (faults []string) {
	caption := strings.TrimSpace(finding + " " + details)
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	first, _ := utf8.DecodeRuneInString(finding)
	fault(!unicode.IsUpper(first), "begins with %q, not with a capital", first)
	fault(!strings.HasSuffix(finding, "."), "has a finding without a full stop")
	fault(strings.Contains(finding, ". "), "has a finding of two sentences")
	fault(details != "" && !strings.HasSuffix(details, "."), "has details without a full stop")
	n := words(caption)
	fault(n > MostWords, "has %d words, want %d at most", n, MostWords)
	if code := ofCode.FindString(caption); code != "" {
		fault(true, "speaks of the code, %q", code)
	}
	if number := asInCode.FindString(caption); number != "" {
		fault(true, "writes a number as code does, %q", strings.TrimSpace(number))
	}
	fault(typeset.Minus(caption) != caption, "has a hyphen for a minus sign")
	return faults
}

// words returns how many words of a text have a letter or a digit: × and = are
// not counted.
func words(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

var (
	ofCode   = regexp.MustCompile(`\b[a-z]+\.[A-Z]\w*|\b(Drawn|Written) by\b`)
	asInCode = regexp.MustCompile(`(^|[^\pL\pN.])\d+(\.\d+)?[eE][+-]?\d+|\d[*^]\d`)
)
