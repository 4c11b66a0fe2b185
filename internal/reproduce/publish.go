package reproduce

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/notebook"
)

// A Publication stores in notebooks what they show when they run, in the form
// that a code host displays: text, tables, and pictures without scripts.
//
// Each cell must be the one that ran last; notebooks may have run one after the
// other. What packages have become since a notebook ran is not seen here: the
// Makefile runs all notebooks again if a file of the code is newer than the
// report, but any run, also of a single notebook, renews the report.
//
// What a cell shows of "this processor", in these words, is another thing on
// another processor. Each notebook keeps the units of the processor that it ran
// on; where they are not those of this one, such cells are not compared.
type Publication struct {
	Out       string    // folder of the results of a Job, or of several, that ran all notebooks
	Notebooks string    // folder of the notebooks
	Units     []string  // the units of this processor that notebooks ask
	Log       io.Writer // receives a line for each notebook that is written, or cell that is not compared
}

// A published notebook, as it is stored and as its last run would have it.
type publishedNotebook struct {
	path          string
	stored, fresh *notebook.Notebook
	differences   []string
	elsewhere     []string // the cells that are not compared
}

// Write stores the outputs of the last run in the notebooks, unless all of them
// show the same already. Times are renewed in all notebooks then, so that they
// come from one run, but a picture is kept if it still shows the same drawing.
// It returns an error, and writes nothing, if a cell is not the one that ran.
func (p Publication) Write() error {
	all, err := p.read()
	if err != nil {
		return err
	}
	if len(differences(all)) == 0 {
		_, err := fmt.Fprintln(p.Log, "the notebooks show what the last run showed")
		return err
	}
	for _, n := range all {
		keepPictures(n.stored, n.fresh)
		if err := p.write(n); err != nil {
			return err
		}
	}
	return nil
}

// write writes one notebook, as a whole or not at all, if it changes.
func (p Publication) write(n publishedNotebook) error {
	before, err := n.stored.Bytes()
	if err != nil {
		return err
	}
	after, err := n.fresh.Bytes()
	if err != nil || string(before) == string(after) {
		return err
	}
	if err := atomicfile.WriteFile(n.path, after); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Log, "%s %d kB\n", n.path, len(after)/1000)
	return err
}

// Compare returns an error that says which cells of which notebooks show
// something else than in the last run. Times may differ.
func (p Publication) Compare() error {
	all, err := p.read()
	if err != nil {
		return err
	}
	if list := differences(all); len(list) > 0 {
		return fmt.Errorf("%s\n`make notebooks` stores what the last run showed", strings.Join(list, "\n"))
	}
	for _, n := range all {
		for _, line := range n.elsewhere {
			if _, err := fmt.Fprintln(p.Log, line); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(p.Log, "%d notebooks show what the last run showed\n", len(all))
	return err
}

func differences(all []publishedNotebook) (list []string) {
	for _, n := range all {
		list = append(list, n.differences...)
	}
	return list
}

// read returns all notebooks with their differences.
func (p Publication) read() ([]publishedNotebook, error) {
	names, _, err := Job{Notebooks: p.Notebooks}.names()
	if err != nil {
		return nil, err
	}
	var all []publishedNotebook
	var errs []error
	for _, name := range names {
		n := publishedNotebook{path: filepath.Join(p.Notebooks, name+".ipynb")}
		if n.stored, err = readNotebook(n.path); err == nil {
			n.fresh, err = p.fresh(n.path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		n.differences, n.elsewhere = compare(name, n.stored, n.fresh)
		all = append(all, n)
	}
	return all, errors.Join(errs...)
}

// fresh returns the notebook in the file path with the outputs of its last run
// in the form that is published. Execution counts are left out: a new cell
// would change those of all cells after it.
func (p Publication) fresh(path string) (*notebook.Notebook, error) {
	nb, err := readNotebook(path)
	if err != nil {
		return nil, err
	}
	ran, err := readNotebook(filepath.Join(p.Out, "notebooks", filepath.Base(path)))
	if err != nil {
		return nil, err
	}
	if len(ran.Cells) != len(nb.Cells) {
		return nil, fmt.Errorf("%d cells, and %d when it ran: make reproduce", len(nb.Cells), len(ran.Cells))
	}
	nb.ClearOutputs()
	figures := filepath.Join(p.Out, "figures")
	for i, c := range nb.Cells {
		if r := ran.Cells[i]; r.Type != c.Type || c.Type == "code" && r.Source != c.Source {
			return nil, fmt.Errorf("cell %d is not the one that ran: make reproduce", i+1)
		}
		if c.Outputs, err = reduced(ran.Cells[i].Outputs, figures); err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	setUnits(nb, p.Units)
	return nb, nil
}

func readNotebook(path string) (*notebook.Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return notebook.Parse(data)
}

// PrintNotebook writes the text of the notebook in the file path, with which
// git compares its versions.
func PrintNotebook(w io.Writer, path string) error {
	nb, err := readNotebook(path)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, nb.Text())
	return err
}
