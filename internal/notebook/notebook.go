package notebook

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Notebook is the content of one .ipynb file: cells, and metadata about all
// of them.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any // kernelspec, language_info, and all other metadata of the file
	Format   int            // nbformat, always 4
	Minor    int            // nbformat_minor; from 5 on, cells have an ID

	extra map[string]any // keys of the file that this package does not know
}

// A Cell is one cell of a notebook: text to read, or code to run.
type Cell struct {
	Type     string // "code", "markdown" or "raw"
	ID       string // empty before nbformat 4.5
	Source   string
	Metadata map[string]any
	Count    int       // execution count of a code cell; 0 is null: never run
	Outputs  []*Output // of a code cell

	extra map[string]any
}

// Title returns the text of the first markdown heading, or "" when there is
// none.
func (nb *Notebook) Title() string {
	for _, c := range nb.Cells {
		if c.Type != "markdown" {
			continue
		}
		for line := range strings.Lines(c.Source) {
			text := strings.TrimLeft(line, "#")
			if len(text) < len(line) && strings.HasPrefix(text, " ") {
				return strings.TrimSpace(text)
			}
		}
	}
	return ""
}

// statedTime matches the running time in the first cell of a notebook.
var statedTime = regexp.MustCompile(`\*Running time:\* about (\d+) seconds?`)

// RunningTime returns the running time that the first cell states, as in
// "*Running time:* about 5 seconds", or 0 if it states none.
func (nb *Notebook) RunningTime() time.Duration {
	if len(nb.Cells) == 0 {
		return 0
	}
	m := statedTime.FindStringSubmatch(nb.Cells[0].Source)
	if m == nil {
		return 0
	}
	seconds, _ := strconv.Atoi(m[1]) // 0 if it is none
	return time.Duration(seconds) * time.Second
}

// Alone reports whether the cell has the tag "alone": it measures times, and no
// other cell is to run beside it.
func (c *Cell) Alone() bool {
	tags, _ := c.Metadata["tags"].([]any)
	return slices.Contains(tags, any("alone"))
}

// CodeCells returns the code cells that contain code to run, in order.
func (nb *Notebook) CodeCells() []*Cell {
	var cells []*Cell
	for _, c := range nb.Cells {
		if c.Type == "code" && strings.TrimSpace(c.Source) != "" {
			cells = append(cells, c)
		}
	}
	return cells
}

// ClearOutputs removes the traces of running the notebook: outputs, execution
// counts, and the times of execution that JupyterLab records.
func (nb *Notebook) ClearOutputs() {
	for _, c := range nb.Cells {
		c.Outputs = nil
		c.Count = 0
		delete(c.Metadata, "execution")
	}
}

// CheckKernel returns an error unless the notebook names the kernel that runs
// it: a kernelspec with the name gonb and the language go. Without the
// language, other tools assume Python.
func (nb *Notebook) CheckKernel() error {
	spec, ok := nb.Metadata["kernelspec"].(map[string]any)
	if !ok {
		return errors.New(`notebook: no kernelspec in the metadata, want name "gonb"`)
	}
	for _, want := range []struct{ key, value string }{{"name", "gonb"}, {"language", "go"}} {
		if got, _ := spec[want.key].(string); got != want.value {
			return fmt.Errorf("notebook: kernelspec %s = %q, want %q", want.key, got, want.value)
		}
	}
	return nil
}
