package notebook

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The notebooks of this repository consist of short cells: prose before code,
// at most 15 lines of code, no line wider than 100 columns, a comment on every
// figure after it, and three things to try.
func TestTheNotebooks(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			nb := open(t, file)
			if err := nb.CheckKernel(); err != nil {
				t.Error(err)
			}
			checkTitle(t, nb)
			tries := 0
			for _, c := range nb.Cells {
				tries += strings.Count(c.Source, "> **Try it.**")
			}
			if tries < 3 {
				t.Errorf("%d things to try, want 3 or more", tries)
			}
			previous, ids := "", map[string]bool{}
			for i, c := range nb.Cells {
				if c.ID == "" || ids[c.ID] {
					t.Errorf("cell %d has the id %q, want one of its own", i+1, c.ID)
				}
				ids[c.ID] = true
				if c.Type == "code" {
					checkCodeCell(t, i+1, c, previous)
				}
				if shows.MatchString(c.Source) && !strings.Contains(c.Source, seen) &&
					(i+1 == len(nb.Cells) || !strings.Contains(nb.Cells[i+1].Source, seen)) {
					t.Errorf("cell %d shows something, and nothing says what we see", i+1)
				}
				if times.MatchString(c.Source) != c.Alone() {
					t.Errorf("cell %d: a cell that measures times has the tag alone, and no other has it", i+1)
				}
				previous = c.Type
			}
		})
	}
}

// open returns a notebook of this repository.
func open(t *testing.T, file string) *Notebook {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

const seen = "**What we see.**"

// times matches what measures times.
var times = regexp.MustCompile(`paper\.(Table3|AllClaims)\(`)

var shows = regexp.MustCompile(`nb\.(Show|Explore)\(`)

// checkTitle checks the first cell, which says what the reader learns, and the
// headings, from which the table of contents is made.
func checkTitle(t *testing.T, nb *Notebook) {
	if !title.MatchString(nb.Cells[0].Source) {
		t.Errorf("the first cell has no heading, question, section of the paper or running time:\n%s", nb.Cells[0].Source)
	}
	headings := 0
	for _, c := range nb.Cells {
		if c.Type == "markdown" {
			headings += len(section.FindAllString(c.Source, -1))
		}
	}
	if headings < 2 {
		t.Errorf("%d headings, want 2 or more", headings)
	}
}

var (
	title   = regexp.MustCompile(`(?s)^# \d+\. .*\n\*\*Question\.\*\* .*\n\*Paper:\* .*\*Running time:\* about (\d+) seconds`)
	section = regexp.MustCompile(`(?m)^## .`)
)

// The README lists every notebook, with the running time that its first cell
// states.
func TestTheREADME_lists_the_notebooks(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		found := title.FindStringSubmatch(open(t, file).Cells[0].Source)
		if found == nil {
			continue // TestTheNotebooks says so
		}
		row := regexp.MustCompile(`(?m)^\| \[` + name + `\]\(notebooks/` + name + `\.ipynb\) \| .* \| ` + found[1] + ` \|$`)
		if !row.Match(readme) {
			t.Errorf("no row of %s, %s seconds", name, found[1])
		}
	}
}

func checkCodeCell(t *testing.T, n int, c *Cell, previous string) {
	if previous != "markdown" {
		t.Errorf("cell %d: no prose before the code", n)
	}
	lines := strings.Split(c.Source, "\n")
	if len(lines) > 15 {
		t.Errorf("cell %d has %d lines, at most 15", n, len(lines))
	}
	for i, l := range lines {
		if i > 0 && strings.HasPrefix(l, "%") && !command.MatchString(l) {
			t.Errorf("cell %d: GoNB takes a line for a command: %s", n, l)
		}
		if width := len([]rune(strings.ReplaceAll(l, "\t", "    "))); width > 100 {
			t.Errorf("cell %d: %d columns, at most 100: %s", n, width, l)
		}
	}
}

// Who opens a notebook on a code host sees what it shows: it is stored with its
// outputs, which contain nothing that runs and little that is large. They are
// stored by `make notebooks`, and compared with those of the last run by `make
// notebooks-check`.
func TestTheNotebooks_are_stored_with_what_they_show(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if info, err := os.Stat(file); err != nil || info.Size() > 400_000 {
				t.Errorf("%d bytes, at most 400000: %v", info.Size(), err)
			}
			for i, c := range open(t, file).CodeCells() {
				if shows.MatchString(c.Source) && len(c.Outputs) == 0 {
					t.Errorf("code cell %d shows something, and no output is stored: make notebooks", i+1)
				}
				if c.Count != 0 {
					t.Errorf("code cell %d has an execution count, which changes with every cell before it", i+1)
				}
				for _, o := range c.Outputs {
					checkOutput(t, i+1, o)
				}
			}
		})
	}
}

// checkOutput checks that a stored output is one that every viewer shows.
func checkOutput(t *testing.T, cell int, o *Output) {
	t.Helper()
	if o.Type != "display_data" && (o.Type != "stream" || o.Name != "stdout") {
		t.Errorf("code cell %d: an output of type %s %s", cell, o.Type, o.Name)
	}
	for mime, v := range o.Data {
		s, _ := v.(string)
		if !slices.Contains([]string{"image/png", "text/html", "text/markdown", "text/plain"}, mime) {
			t.Errorf("code cell %d: an output as %s", cell, mime)
		}
		s = strings.ReplaceAll(s, ` style="text-align:left"`, "")
		if found := active.FindString(s); found != "" && mime == "text/html" {
			t.Errorf("code cell %d: %s in an output", cell, found)
		}
	}
}

// active matches what a code host removes from HTML.
var active = regexp.MustCompile(`(?i)<(script|style|iframe|svg|img|a)\b|\bstyle=|\bon\w+=|["']data:`)

// command is a line that GoNB is meant to take for a command.
var command = regexp.MustCompile(`^%(%|noautoget)$`)

// Cells use the GPU through the command roundoff: no cell links the packages
// that call the GPU, and no package of this module that a cell imports needs a
// C compiler. (The standard library uses cgo if a C compiler is present.)
func TestTheNotebooks_link_no_cgo(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notebooks: %v", err)
	}
	imports := map[string]bool{}
	for _, file := range files {
		nb := open(t, file)
		for _, c := range nb.Cells {
			for _, path := range ours.FindAllStringSubmatch(c.Source, -1) {
				imports[path[1]] = imports[path[1]] || c.Type == "code"
			}
		}
	}
	args := []string{"list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{if .CgoFiles}} cgo{{end}}{{end}}`}
	for path, code := range imports {
		if code {
			args = append(args, path)
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := string(out)
	for _, want := range []string{"roundoff/pkg/paper\n", "roundoff/pkg/viz/nb\n"} {
		if !strings.Contains(linked, want) {
			t.Errorf("%d imports, and %s is not linked", len(imports), strings.TrimSpace(want))
		}
	}
	for _, bad := range []string{" cgo\n", "roundoff/internal/cuda\n", "roundoff/pkg/gpu\n", "roundoff/pkg/probe\n"} {
		if strings.Contains(linked, bad) {
			t.Errorf("%s is linked:\n%s", strings.TrimSpace(bad), linked)
		}
	}
}

// ours are the packages of this module that a cell imports.
var ours = regexp.MustCompile(`"(github\.com/roundofflab/roundoff/pkg/[a-z/]+)"`)
