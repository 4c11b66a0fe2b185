package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Report contains the results of a run.
type Report struct {
	Sections []Section // one for each notebook, including those that were not run
	Claims   []Claim
	Ran      []string // names of the notebooks that were run
	Machine  Machine
	Date     time.Time // of the start
	Duration time.Duration
}

// A Section contains the results of one notebook.
type Section struct {
	Name     string // of the notebook, without .ipynb
	Title    string // its first heading
	Cells    int    // number of cells that ran
	Duration time.Duration
	Figures  []Figure // and tables, in the order they were shown
}

// gather reads the figures and claims that the notebooks wrote into the folder
// out, and checks them. Unless full is true, claims may be missing.
func (r *Report) gather(out string, full bool) error {
	dir := filepath.Join(out, "figures")
	figures, err := readFigures(dir)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	var errs []error
	for _, f := range figures {
		if err := f.Check(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		i := slices.IndexFunc(r.Sections, func(s Section) bool { return s.Name == f.Notebook })
		if i < 0 {
			errs = append(errs, fmt.Errorf("figure %s: there is no notebook %q", f.Name, f.Notebook))
			continue
		}
		r.Sections[i].Figures = append(r.Sections[i].Figures, f)
	}
	data, err := os.ReadFile(filepath.Join(out, "claims.json"))
	switch {
	case err == nil:
		r.Claims, err = ParseClaims(data)
	case !full && errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	return errors.Join(append(errs, err)...)
}

// Count returns the number of claims with a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, c := range r.Claims {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Cells returns the number of cells that ran.
func (r *Report) Cells() int {
	n := 0
	for _, s := range r.Sections {
		n += s.Cells
	}
	return n
}

// Figures returns the number of figures and tables of the notebooks.
func (r *Report) Figures() int {
	n := 0
	for _, s := range r.Sections {
		n += len(s.Figures)
	}
	return n
}

// String returns the report in one line.
func (r *Report) String() string {
	verdicts := make([]string, len(Verdicts))
	for i, v := range Verdicts {
		verdicts[i] = fmt.Sprintf("%d %s", r.Count(v), v)
	}
	return fmt.Sprintf("%d notebooks, %d cells, %d figures and tables, %d claims (%s), %.0f s",
		len(r.Ran), r.Cells(), r.Figures(), len(r.Claims), strings.Join(verdicts, ", "), r.Duration.Seconds())
}
