package reproduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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

// kernels runs notebooks, each in a kernel of its own, several at the same time
// if need be.
type kernels struct {
	Job
	spec jupyter.Spec

	// A cell that is to run alone holds machine for writing, any other for
	// reading.
	machine sync.RWMutex
}

// run runs a notebook, writes it with its outputs, and notes in s how many
// cells it has and how long it took.
func (k *kernels) run(ctx context.Context, s *Section, nb *notebook.Notebook) (err error) {
	start := time.Now()
	if s.Cells, err = k.execute(ctx, s.Name, nb); err != nil {
		return err
	}
	s.Duration = time.Since(start)
	return writeExecuted(filepath.Join(k.Out, "notebooks", s.Name+".ipynb"), nb)
}

// execute runs the code cells of a notebook in a kernel of its own, in the
// folder of the notebook, and stores their outputs in nb. It returns the number
// of cells.
//
// Cells run as programs, which are compiled together, unless Apart is set. If a
// program of several cells fails, the notebook begins again with each cell as a
// program, so that what fails is said of the cell, in the lines of its text.
func (k *kernels) execute(ctx context.Context, name string, nb *notebook.Notebook) (int, error) {
	cells := nb.CodeCells()
	together := programs(cells)
	if k.Apart {
		together = singly(cells)
	}
	n, err := k.inKernel(ctx, name, nb, together)
	if failed := (*programError)(nil); errors.As(err, &failed) {
		fmt.Fprintf(k.Log, "%s again, one cell after the other: %v\n", name, failed)
		n, err = k.inKernel(ctx, name, nb, singly(cells))
	}
	return n, err
}

// A programError means that a program of several cells failed.
type programError struct{ reason error }

func (e *programError) Error() string { return "cells together: " + e.reason.Error() }

// inKernel runs programs in a kernel of their own and returns how many cells
// succeeded.
func (k *kernels) inKernel(ctx context.Context, name string, nb *notebook.Notebook, list []program) (n int, err error) {
	kernel, err := k.start(ctx, name)
	if err != nil {
		return 0, &CellError{Notebook: name, Reason: err}
	}
	nb.ClearOutputs()
	r := &running{kernels: k, kernel: kernel, notebook: name, of: len(nb.CodeCells())}
	for _, p := range list {
		if err := r.program(ctx, p); err != nil {
			return r.done, errors.Join(err, kernel.Close())
		}
	}
	return r.done, kernel.Close()
}

// memory is the memory limit, in MiB, that the garbage collectors of all cells
// that run at the same time share, unless GOMEMLIMIT is set. The largest cells
// but those that run alone take 400 MB with half of it, in the time that they
// take without a limit.
const memory = 600

// garbage is the GOGC of all that a kernel starts, unless it is set: to compile
// and link a cell then takes an eighth less of the processor.
const garbage = "400"

// start starts the kernel of a notebook.
func (k *kernels) start(ctx context.Context, name string) (*jupyter.Kernel, error) {
	k.machine.RLock()
	defer k.machine.RUnlock()
	dir, err := filepath.Abs(k.Notebooks)
	if err != nil {
		return nil, err
	}
	env := []string{"ROUNDOFF_OUT=" + k.Out, "ROUNDOFF_NOTEBOOK=" + name}
	if os.Getenv("GOMEMLIMIT") == "" {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%dMiB", memory/max(k.AtATime, 1)), "GOGC="+cmp.Or(os.Getenv("GOGC"), garbage))
	}
	return jupyter.Start(ctx, k.spec, dir, env)
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
