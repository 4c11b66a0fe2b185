package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/jupyter"
	"github.com/roundofflab/roundoff/internal/notebook"
)

// A Job describes which notebooks to run and where to write the results.
type Job struct {
	Out       string        // folder for the results; created if it does not exist
	Notebooks string        // folder with the notebooks
	Kernel    string        // file kernel.json of the kernel that runs them
	Timeout   time.Duration // time limit of one cell
	Names     []string      // notebooks to run, by name or beginning of the name ("05"); all if empty
	Log       io.Writer     // receives a line for each cell
}

// Run runs the notebooks in the order of their names and returns their results.
// If it runs all of them, it first removes the figures, notebooks and claims of
// earlier runs, and there must be claims at the end. If it runs some of them,
// it keeps the results of the others.
//
// Run removes only files that a run wrote, which it recognises by their
// content. It stops at the first cell that fails, with a *CellError, and when
// ctx ends.
func (j Job) Run(ctx context.Context) (*Report, error) {
	start := time.Now()
	all, chosen, err := j.names()
	if err != nil {
		return nil, err
	}
	spec, err := jupyter.ReadSpec(j.Kernel)
	if err != nil {
		return nil, err
	}
	if j.Out, err = filepath.Abs(j.Out); err != nil {
		return nil, err
	}
	if err := j.prepare(chosen, len(chosen) == len(all)); err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	r := &Report{Ran: chosen, Date: start, Machine: ThisMachine(j.Notebooks)}
	for _, name := range all {
		s := Section{Name: name}
		if err := j.section(ctx, spec, &s, slices.Contains(chosen, name)); err != nil {
			return nil, err
		}
		r.Sections = append(r.Sections, s)
	}
	r.Duration = time.Since(start)
	if err := r.gather(j.Out, len(chosen) == len(all)); err != nil {
		return nil, err
	}
	return r, r.save(j.Out)
}

// names returns the names of all notebooks in the folder and of the selected
// ones, in order.
func (j Job) names() (all, chosen []string, err error) {
	files, err := filepath.Glob(filepath.Join(j.Notebooks, "*.ipynb"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("reproduce: no notebooks in %s", j.Notebooks)
	}
	for _, f := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(f), ".ipynb"))
	}
	slices.Sort(all)
	if len(j.Names) == 0 {
		return all, all, nil
	}
	for _, want := range j.Names {
		want = strings.TrimSuffix(filepath.Base(want), ".ipynb")
		n := len(chosen)
		for _, name := range all {
			if strings.HasPrefix(name, want) {
				chosen = append(chosen, name)
			}
		}
		if len(chosen) == n {
			return nil, nil, fmt.Errorf("reproduce: no notebook %s in %s, there are %s", want, j.Notebooks, strings.Join(all, ", "))
		}
	}
	slices.Sort(chosen)
	return all, slices.Compact(chosen), nil
}

// prepare creates the folder and removes the results of earlier runs of the
// selected notebooks.
func (j Job) prepare(chosen []string, full bool) error {
	figures, notebooks := filepath.Join(j.Out, "figures"), filepath.Join(j.Out, "notebooks")
	for _, dir := range []string{figures, notebooks} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if same(notebooks, j.Notebooks) {
		return fmt.Errorf("the executed notebooks would replace those in %s, choose another folder for the output", j.Notebooks)
	}
	stale := []string{filepath.Join(j.Out, "index.html"), filepath.Join(j.Out, "report.json"), filepath.Join(j.Out, "profile.json")}
	if full {
		stale = append(stale, filepath.Join(j.Out, "claims.json"), filepath.Join(j.Out, "answer.json"))
	}
	old, err := readFigures(figures)
	if err != nil {
		return err
	}
	for _, f := range old {
		if full || slices.Contains(chosen, f.Notebook) {
			stale = append(stale, f.files(figures)...)
			stale = append(stale, filepath.Join(figures, f.Name+pageExt))
		}
	}
	executed, err := filepath.Glob(filepath.Join(notebooks, "*.ipynb"))
	if err != nil {
		return err
	}
	for _, path := range executed {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		if (full || slices.Contains(chosen, name)) && isExecuted(path) {
			stale = append(stale, path)
		}
	}
	return remove(stale)
}

// section reads a notebook and, if run is true, runs it.
func (j Job) section(ctx context.Context, spec jupyter.Spec, s *Section, run bool) error {
	data, err := os.ReadFile(filepath.Join(j.Notebooks, s.Name+".ipynb"))
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	nb, err := notebook.Parse(data)
	if err == nil {
		err = nb.CheckKernel()
	}
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", s.Name, err)
	}
	s.Title = nb.Title()
	if !run {
		return nil
	}
	start := time.Now()
	if s.Cells, err = j.execute(ctx, spec, s.Name, nb); err != nil {
		return err
	}
	s.Duration = time.Since(start)
	return writeExecuted(filepath.Join(j.Out, "notebooks", s.Name+".ipynb"), nb)
}

// remove removes files. A file that does not exist is not an error.
func remove(paths []string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// same reports whether two paths are the same folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
