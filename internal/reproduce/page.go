package reproduce

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/typeset"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"verdicts": func() []Verdict { return Verdicts },
	"number":   number,
	"seconds":  seconds,
	"plural":   plural,
}).Parse(pageText))

// Page returns the report as one HTML page. It contains the figures and loads
// nothing from the network; its links lead to files in the same folder.
func (r *Report) Page() ([]byte, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("reproduce: page: %w", err)
	}
	return b.Bytes(), nil
}

// Image returns the figure as a data URL of its SVG.
func (f Figure) Image() template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(f.svg))
}

// Interactive reports whether the figure has a page on which controls change
// it.
func (f Figure) Interactive() bool { return f.interactive }

// Table returns the table's HTML without its styles for notebooks: the page has
// its own styles, for light and dark.
func (f Figure) Table() template.HTML { return template.HTML(styles.ReplaceAllString(f.HTML, "")) }

var styles = regexp.MustCompile(` style="[^"]*"`)

// IsClaims reports whether this is a table of claims, named claims or
// claims-05, for example. The page lists the claims in a table of its own.
func (f Figure) IsClaims() bool {
	return f.Kind == "table" && strings.HasPrefix(f.Name+"-", "claims-")
}

// Words returns the verdict in words.
func (v Verdict) Words() string { return strings.ReplaceAll(string(v), "-", " ") }

// Mark returns a symbol for the verdict, so that it can be recognised without
// colour.
func (v Verdict) Mark() string {
	switch v {
	case Reproduced:
		return "✓"
	case Differs:
		return "≠"
	}
	return "?"
}

// Share returns the percentage of claims with a verdict, for the length of a
// bar.
func (r *Report) Share(v Verdict) float64 {
	return 100 * float64(r.Count(v)) / float64(max(1, len(r.Claims)))
}

// Partly reports whether some notebooks were not run, so that their results are
// from earlier runs.
func (r *Report) Partly() bool { return len(r.Ran) < len(r.Sections) }

// number returns x with four significant digits, or in full if it is an
// integer.
func number(x *float64) string {
	switch {
	case x == nil:
		return "–"
	case *x == math.Trunc(*x) && math.Abs(*x) < 1e9:
		return typeset.Minus(strconv.FormatFloat(*x, 'f', 0, 64))
	}
	return typeset.Number(*x, 4)
}

// seconds returns a duration in seconds, or in minutes if it is at least two
// minutes.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f min", d.Minutes())
}

// plural returns n with a noun, in the plural unless n is 1.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
