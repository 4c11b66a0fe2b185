package study

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// A sentence of a notebook that says "all", "none" or the like is claimed by
// one entry of sentences, which computes it or says why there is nothing to
// compute.
func TestNotebooks_claim_what_is_so(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		number, _, _ := strings.Cut(name, "-")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range unclaimed(universal(nb), sentences[number]) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(sentences)) {
		for _, e := range sentences[number] {
			if e.check != nil {
				t.Run(number+" "+e.fragment, e.check)
			}
		}
	}
}

// A sentence is known by a fragment of it. It has a check, or a reason why it
// needs none.
type sentence struct {
	fragment string
	check    func(*testing.T)
	reason   reason
}

type reason string

const (
	definition  reason = "says what a word means, or of what parts something consists"
	mathematics reason = "follows from definitions; a lemma or an identity"
	procedure   reason = "says what a cell does, which the reader sees"
)

// unclaimed returns what is wrong between the sentences of a notebook and the
// entries for it.
func unclaimed(found []string, entries []sentence) (faults []string) {
	used := make([]int, len(entries))
	for _, s := range found {
		claims := 0
		for i, e := range entries {
			if strings.Contains(s, e.fragment) {
				used[i]++
				claims++
			}
		}
		switch {
		case claims == 0:
			faults = append(faults, "no entry for: "+s)
		case claims > 1:
			faults = append(faults, "several entries for: "+s)
		}
	}
	for i, e := range entries {
		if used[i] != 1 {
			faults = append(faults, "the entry matches "+map[bool]string{true: "no sentence: ", false: "several sentences: "}[used[i] == 0]+e.fragment)
		}
		if (e.check == nil) == (e.reason == "") {
			faults = append(faults, "not one of a check and a reason: "+e.fragment)
		}
	}
	return faults
}

// quantifier finds the words that make a sentence universal. "any" and "only"
// are not among them: they are rarely about all of something.
var (
	quantifier = regexp.MustCompile(`(?i)\b(all|none|every|always|never|no|each|nowhere|everywhere|nothing)\b`)
	idiom      = regexp.MustCompile(`(?i)\b(first of all|all the same|each other)\b`)
)

// universal returns the sentences of a notebook that contain a quantifier.
// Omitted are the first cell, which asks and announces, the cell that sets up a
// kernel, headings, what to try, links to what is next, and tables, which have
// no sentences. A question claims nothing.
func universal(nb *notebook.Notebook) (found []string) {
	for i, c := range nb.Cells {
		if i == 0 || strings.HasPrefix(c.Source, "Setup for a GoNB kernel") {
			continue
		}
		text := c.Source
		if c.Type == "code" {
			text = strings.Join(literals(text), "\n\n")
		}
		for _, p := range paragraphs(display.ReplaceAllString(text, "")) {
			if aside.MatchString(p) {
				continue
			}
			for _, s := range splitSentences(p) {
				words := idiom.ReplaceAllString(code.ReplaceAllString(s, ""), "")
				if quantifier.MatchString(words) && !strings.HasSuffix(s, "?") {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

var (
	display = regexp.MustCompile("(?s)```.*?```|\\$\\$.*?\\$\\$") // listings and formulas
	code    = regexp.MustCompile("`[^`]*`|\\$[^$]*\\$")           // within a line
	aside   = regexp.MustCompile(`^(#|> \*\*Try it|\||\*\*(Next|To go on|To try your own):)`)
	literal = regexp.MustCompile("nb\\.Markdown\\((?:`([^`]*)`|\"([^\"]*)\")")
	item    = regexp.MustCompile(`\n(?:\* |\d+\. )`)
	end     = regexp.MustCompile(`[.?!][*")]*\s+`)
)

// literals returns the texts of a code cell's calls of nb.Markdown.
func literals(source string) (texts []string) {
	for _, m := range literal.FindAllStringSubmatch(source, -1) {
		texts = append(texts, m[1]+m[2])
	}
	return texts
}

// paragraphs returns the paragraphs and list items of a text, one line each.
func paragraphs(text string) (all []string) {
	for _, p := range strings.Split(item.ReplaceAllString(text, "\n\n"), "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			all = append(all, p)
		}
	}
	return all
}

// splitSentences returns the sentences of a paragraph. A point ends one if
// what follows does not begin with a small letter.
func splitSentences(p string) (all []string) {
	from := 0
	for _, at := range end.FindAllStringIndex(p, -1) {
		if next := []rune(p[at[1]:]); len(next) > 0 && !unicode.IsLower(next[0]) {
			all = append(all, strings.TrimSpace(p[from:at[1]]))
			from = at[1]
		}
	}
	return append(all, p[from:])
}

// What the test above reads and what it omits.
func TestUniversal(t *testing.T) {
	nb := &notebook.Notebook{Cells: []*notebook.Cell{
		{Type: "markdown", Source: "# 1. Every title\n\n**Question.** All of it?"},
		{Type: "markdown", Source: "Setup for a GoNB kernel of your own. It does nothing."},
		{Type: "markdown", Source: "## All\n\n**What we see.** No bound\nis exceeded. Some are $all$ and `none`. Is every one? They differ from each other.\n\n> **Try it.** Try all.\n\n| all |\n\n* always\n* one"},
		{Type: "code", Source: "nb.Markdown(`So **%d** and\nnone.`, 1)\nfmt.Println(\"all\") // every"},
		{Type: "markdown", Source: "**Next:** all bounds."},
	}}
	found := universal(nb)
	if got, want := strings.Join(found, " | "), "No bound is exceeded. | always | So **%d** and none."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, c := range []struct {
		entries []sentence
		want    string
	}{
		{[]sentence{{"No bound", nil, procedure}, {"always", nil, procedure}}, "no entry for: So **%d** and none."},
		{[]sentence{{"No bound", nil, procedure}, {"exceeded", nil, procedure}, {"always", nil, procedure}, {"none", nil, procedure}}, "several entries for: No bound is exceeded."},
		{[]sentence{{"No bound", nil, procedure}, {"always", nil, procedure}, {"none", nil, procedure}, {"never", nil, procedure}}, "the entry matches no sentence: never"},
		{[]sentence{{"No bound", nil, ""}, {"always", nil, procedure}, {"none", nil, procedure}}, "not one of a check and a reason: No bound"},
	} {
		if got := strings.Join(unclaimed(found, c.entries), " | "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
