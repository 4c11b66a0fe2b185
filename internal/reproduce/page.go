package reproduce

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/roundofflab/roundoff/internal/typeset"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"verdicts": func() []Verdict { return Verdicts },
	"number":   number,
	"seconds":  seconds,
	"plural":   plural,
	"set":      set,
}).Parse(pageText))

// Page returns the report as one HTML page. It contains the figures and loads
// nothing from the network; some of its links lead to files in the same folder,
// and it hides them where it finds itself alone.
func (r *Report) Page() ([]byte, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("reproduce: page: %w", err)
	}
	return b.Bytes(), nil
}

// Picture returns the figure as an SVG element.
func (f Figure) Picture() template.HTML { return template.HTML(f.svg) }

// Width returns the width of the picture in pixels as a style, or nothing if
// the picture does not say it.
func (f Figure) Width() template.CSS {
	if m := width.FindSubmatch(f.svg); m != nil {
		return template.CSS("--width: " + string(m[1]) + "px")
	}
	return ""
}

var width = regexp.MustCompile(`^<svg[^>]* width="([0-9.]+)"`)

// Interactive reports whether the figure has a page on which controls change
// it.
func (f Figure) Interactive() bool { return f.interactive }

// Table returns the table's HTML without its styles for notebooks: the page has
// its own styles, for light and dark.
func (f Figure) Table() template.HTML {
	table := styles.ReplaceAllString(f.HTML, "")
	if f.Prose() {
		table = named(table)
	}
	return template.HTML(table)
}

// named returns a table in which every cell has the name of its column, which
// the page prints before it where there is no room for columns.
func named(table string) string {
	columns := headers.FindAllStringSubmatch(table, -1)
	i := 0
	return rows.ReplaceAllStringFunc(table, func(tag string) string {
		if tag == "<tr" {
			i = 0
			return tag
		}
		i++
		if i > len(columns) {
			return tag
		}
		return tag + ` data-column="` + tags.ReplaceAllString(columns[i-1][1], "") + `"`
	})
}

var (
	headers = regexp.MustCompile(`<th(?: [^>]*)?>(.*?)</th>`)
	rows    = regexp.MustCompile(`<tr|<td`)
	tags    = regexp.MustCompile(`<[^>]*>`)
)

// Prose reports whether a tenth of the cells of the table have more than one
// line of text, so that its columns are to share the width of the page.
func (f Figure) Prose() bool {
	all, long := cells.FindAllStringSubmatch(f.HTML, -1), 0
	for _, m := range all {
		if utf8.RuneCountInString(m[1]) > 80 {
			long++
		}
	}
	return 10*long > len(all)
}

var cells = regexp.MustCompile(`<td[^>]*>(.*?)</td>`)

var styles = regexp.MustCompile(` style="[^"]*"`)

// Shown returns the section's figures without those that are tables of claims,
// named claims or claims-05, for example, if the page has a table of all
// claims.
func (r *Report) Shown(s Section) []Figure {
	return slices.DeleteFunc(slices.Clone(s.Figures), func(f Figure) bool {
		return len(r.Claims) > 0 && f.Kind == "table" && strings.HasPrefix(f.Name+"-", "claims-")
	})
}

// Measured returns the claims that the notebook of a section measures.
func (r *Report) Measured(s Section) []Claim {
	return slices.DeleteFunc(slices.Clone(r.Claims), func(c Claim) bool { return c.Notebook != s.Name })
}

// InPaper returns the name in the paper of what a figure shows, or "" if it is
// not one of the paper's.
func (r *Report) InPaper(figure string) string {
	if r.Answer != nil {
		for _, i := range r.Answer.Items {
			if i.Figure == figure {
				return i.Name
			}
		}
	}
	return ""
}

// set returns text as HTML in which what follows a single letter and an
// underscore, as in e_min, is a subscript.
func set(text string) template.HTML {
	return template.HTML(subscript.ReplaceAllString(template.HTMLEscapeString(text), "$1$2<sub>$3</sub>"))
}

var subscript = regexp.MustCompile(`(^|[^\pL\pN_])(\pL)_(\pL+|\pN+)`)

// Words returns the verdict in words.
func (v Verdict) Words() string { return strings.ReplaceAll(string(v), "-", " ") }

// Plural returns the verdict in words that follow a number.
func (v Verdict) Plural() string {
	if v == Differs {
		return "differ"
	}
	return v.Words()
}

// Mark returns a symbol for the verdict, so that it can be recognised without
// colour.
func (v Verdict) Mark() string {
	switch v {
	case Reproduced:
		return "✓"
	case Differs:
		return "✗"
	}
	return "–"
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
