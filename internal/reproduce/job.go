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
	AtATime   int           // notebooks that run at the same time; 0 is 1
	Apart     bool          // every cell is compiled by itself, as when a reader runs it
	Log       io.Writer     // receives a line for each cell
}

// Run runs the notebooks and returns their results, in the order of their
// names. Those that state the longest running time start first. If Run runs all
// notebooks, it first removes the figures, notebooks and claims of earlier
// runs, and there must be claims at the end. If it runs some of them, it keeps
// the results of the others.
//
// Run removes only files that a run wrote, which it recognises by their
// content. A notebook stops at the first cell that fails, with a *CellError,
// and when ctx ends. Run starts no notebook after that, but waits for those
// that run and keeps their results.
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
	notebooks, err := j.read(all)
	if err != nil {
		return nil, err
	}
	if err := j.prepare(chosen, len(chosen) == len(all)); err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	r := &Report{Ran: chosen, Date: start, Machine: ThisMachine(j.Notebooks)}
	for i, name := range all {
		r.Sections = append(r.Sections, Section{Name: name, Title: notebooks[i].Title()})
	}
	kernels := kernels{Job: j, spec: spec}
	kernels.Log = &lineWriter{w: j.Log}
	var tasks []func() error
	for _, i := range longestFirst(notebooks) {
		if slices.Contains(chosen, all[i]) {
			tasks = append(tasks, func() error { return kernels.run(ctx, &r.Sections[i], notebooks[i]) })
		}
	}
	if err := atATime(max(j.AtATime, 1), tasks); err != nil {
		return nil, err
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
	stale := []string{filepath.Join(j.Out, "index.html"), filepath.Join(j.Out, "report.json"), filepath.Join(j.Out, crateName), filepath.Join(j.Out, "profile.json")}
	if full {
		for _, name := range []string{"claims.json", "answer.json", "claims-elsewhere.json"} {
			stale = append(stale, filepath.Join(j.Out, name))
		}
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

// read returns the notebooks of the given names. It returns an error if one of
// them is for another kernel.
func (j Job) read(names []string) ([]*notebook.Notebook, error) {
	var list []*notebook.Notebook
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(j.Notebooks, name+".ipynb"))
		if err != nil {
			return nil, fmt.Errorf("reproduce: %w", err)
		}
		nb, err := notebook.Parse(data)
		if err == nil {
			err = nb.CheckKernel()
		}
		if err != nil {
			return nil, fmt.Errorf("reproduce: %s: %w", name, err)
		}
		list = append(list, nb)
	}
	return list, nil
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
