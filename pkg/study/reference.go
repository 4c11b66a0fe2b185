package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/bound"
)

// referenceTables are the tables of [BoundReference], each with the models of
// its bounds: from what holds of every machine to what must be assumed of
// errors and data.
var referenceTables = []struct {
	title, text string
	models      []string
}{
	{"Sums rounded to nearest", "Nothing is random: these hold always, on machines that round every sum to nearest.",
		[]string{"nearest", "nearest, compensated"}},
	{"Rounding errors independent, of mean zero", "On machines that round every sum to nearest. Their errors are taken as random, and the confidence is that of this chance.",
		[]string{"independent"}},
	{"Rounding errors independent and uniform", "The paper's assumption: each error is uniform on $[-u, u]$.",
		[]string{"uniform"}},
	{"Rounding errors of mean zero, whatever came before", "Weaker than independence. It is a theorem for stochastic rounding.",
		[]string{"mean-independent"}},
	{"Truncated sums", "Nothing is random: these hold always, on tensor cores, which align their terms and cut off bits.",
		[]string{"truncating"}},
	{"Truncated sums of random data", "The products of an output are taken as independent, of one distribution. The rounding of the machine is not random at all.",
		[]string{"truncating, random data"}},
	{"Any machine", "No bound, but the error itself, for comparison.",
		[]string{"any"}},
}

// BoundReference returns the catalogue of bounds as Markdown: a table for each
// assumption, with the formula of every bound, what it must know of the data,
// what else it assumes, and its source. It panics if a bound belongs to no
// table.
func BoundReference() string {
	var b strings.Builder
	rows := 0
	for _, a := range referenceTables {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| bound | formula | knows; also assumes | source |\n|---|---|---|---|\n", a.title, a.text)
		for _, c := range bound.Catalogue() {
			if slices.Contains(a.models, c.Model.Name) {
				rows++
				fmt.Fprintf(&b, "| `%s` | $%s$ | %s | %s |\n", c.Name, c.Formula, needsOf(c), sourceOf(c))
			}
		}
		b.WriteString("\n")
	}
	if all := len(bound.Catalogue()); rows != all {
		panic(fmt.Sprintf("study: %d bounds of %d are in a table of the reference", rows, all))
	}
	return b.String()
}

// needsOf returns what must be known, and assumed besides, for a bound.
func needsOf(b bound.Bound) string {
	if b.Assumes == "" {
		return b.Needs.String()
	}
	return b.Needs.String() + "; " + b.Assumes
}

// sourceOf returns the source of a bound with a link to where it is written
// out: the list of references, or the page that proves it.
func sourceOf(b bound.Bound) string {
	page := "../REFERENCES.md"
	if strings.HasPrefix(b.Model.Name, "truncating") {
		page = "../docs/truncation.md"
	}
	return fmt.Sprintf("[%s](%s)", b.Source, page)
}
