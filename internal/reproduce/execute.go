package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/jupyter"
	"github.com/roundofflab/roundoff/internal/notebook"
)

// A CellError means that a cell failed.
type CellError struct {
	Notebook string
	Cell, Of int    // number of the code cell, from 1, and their count; 0 if the kernel did not start
	Source   string // the text of the cell
	Said     string // its standard error output and its error
	Reason   error  // why the cell is considered as failed
}

// Error returns, on several lines, which cell failed, its text, and its
// messages.
func (e *CellError) Error() string {
	if e.Cell == 0 {
		return fmt.Sprintf("%s: %v", e.Notebook, e.Reason)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cell %d of %d failed: %v\n\n", e.Notebook, e.Cell, e.Of, e.Reason)
	b.WriteString(indent(e.Source))
	if e.Said != "" {
		b.WriteString("\n" + strings.TrimRight(e.Said, "\n") + "\n")
	}
	return b.String()
}

// Unwrap returns the reason.
func (e *CellError) Unwrap() error { return e.Reason }

// execute runs the code cells of a notebook in a kernel of its own, in the
// folder of the notebook, and stores their outputs in nb. It returns the number
// of cells.
func (j Job) execute(ctx context.Context, spec jupyter.Spec, name string, nb *notebook.Notebook) (int, error) {
	dir, err := filepath.Abs(j.Notebooks)
	if err != nil {
		return 0, err
	}
	env := []string{"ROUNDOFF_OUT=" + j.Out, "ROUNDOFF_NOTEBOOK=" + name}
	k, err := jupyter.Start(ctx, spec, dir, env)
	if err != nil {
		return 0, &CellError{Notebook: name, Reason: err}
	}
	nb.ClearOutputs()
	cells := nb.CodeCells()
	for i, c := range cells {
		start := time.Now()
		e := j.cell(ctx, k, c)
		j.progress(name, i+1, len(cells), c, time.Since(start), e)
		if e != nil {
			e.Notebook, e.Cell, e.Of = name, i+1, len(cells)
			return i, errors.Join(e, k.Close())
		}
	}
	return len(cells), k.Close()
}

// cell runs one cell and returns nil if it succeeded.
func (j Job) cell(ctx context.Context, k *jupyter.Kernel, c *notebook.Cell) *CellError {
	ctx, cancel := context.WithTimeoutCause(ctx, j.Timeout, fmt.Errorf("not done after %v", j.Timeout))
	defer cancel()
	r, err := k.Execute(ctx, c.Source)
	c.Count, c.Outputs = r.Count, r.Outputs
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err == nil {
		err = failure(r)
	}
	if err == nil {
		return nil
	}
	return &CellError{Source: c.Source, Said: said(r.Outputs), Reason: err}
}

// exited matches the text that GoNB writes on standard error when a command of
// a cell has failed. For a shell command, a line with an exclamation mark, this
// text is the only sign of failure: the kernel reports the cell as successful.
var exited = regexp.MustCompile(`(?m)^(exit status \d+|signal: .*)$`)

// failure returns the reason why a cell failed, or nil.
func failure(r *jupyter.Result) error {
	for _, o := range r.Outputs {
		if o.Type == "stream" && o.Name == "stderr" {
			if status := exited.FindString(o.Text); status != "" {
				return errors.New(status)
			}
		}
	}
	if !r.Failed {
		return nil
	}
	for line := range strings.Lines(plain(r.Reason)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' { // # names the package
			return errors.New(line)
		}
	}
	return errors.New("failed without a word")
}

// said returns the error messages in the outputs, without repetitions.
func said(outputs []*notebook.Output) string {
	var b strings.Builder
	add := func(s string) {
		if s = strings.TrimSpace(plain(s)); s != "" && !strings.Contains(b.String(), s) {
			b.WriteString(s + "\n")
		}
	}
	for _, o := range outputs {
		switch {
		case o.Type == "stream" && o.Name == "stderr":
			add(o.Text)
		case o.Type == "error":
			add(o.ErrValue)
			add(strings.Join(o.Traceback, "\n"))
		}
	}
	return b.String()
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// plain returns s without the colour codes of a terminal.
func plain(s string) string { return colours.ReplaceAllString(s, "") }

// progress writes the line of the log for one cell.
func (j Job) progress(name string, i, n int, c *notebook.Cell, d time.Duration, e *CellError) {
	state := "ok"
	if e != nil {
		state = "FAILED"
	}
	fmt.Fprintf(j.Log, "%s [%d/%d] %s %.1f s  %s\n", name, i, n, state, d.Seconds(), firstLine(c.Source))
}

// firstLine returns the first line of a cell that is not empty, not %% and not
// part of the imports, cut to 60 characters.
func firstLine(source string) string {
	imports := false
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case line == "" || line == "%%":
		default:
			if r := []rune(line); len(r) > 60 {
				return string(r[:59]) + "…"
			}
			return line
		}
	}
	return ""
}

// indent returns the lines of s, each prefixed with a bar.
func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  | " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// The key of the metadata that marks an executed notebook as written by this
// package.
const executedMark = "roundoff_executed"

// writeExecuted writes an executed notebook with the mark, as a whole or not at
// all.
func writeExecuted(path string, nb *notebook.Notebook) error {
	nb.Metadata[executedMark] = true
	data, err := nb.Bytes()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data)
}

// isExecuted reports whether writeExecuted wrote the file.
func isExecuted(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	nb, err := notebook.Parse(data)
	return err == nil && nb.Metadata[executedMark] == true
}
