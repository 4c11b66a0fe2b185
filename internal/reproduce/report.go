package reproduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// A Report contains the results of a run.
type Report struct {
	Sections   []Section // one for each notebook, including those that were not run
	Claims     []Claim   `json:"-"`
	Answer     *Answer   `json:"-"` // nil: not yet known, after a run of some notebooks
	Ran        []string  // names of the notebooks that were run
	Machine    Machine
	Date       time.Time // of the start
	Duration   time.Duration
	Playground string `json:"-"` // the path of the playground's page in the folder, "" if it is not there
}

// A Section contains the results of one notebook.
type Section struct {
	Name     string // of the notebook, without .ipynb
	Title    string // its first heading
	Cells    int    // number of cells that ran
	Duration time.Duration
	Figures  []Figure `json:"-"` // and tables, in the order they were shown
	Page     string   `json:"-"` // the path of the notebook's own page in the folder, "" if there is none
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
	read := func(name string, parse func([]byte) error) {
		data, err := os.ReadFile(filepath.Join(out, name))
		switch {
		case err == nil:
			err = parse(data)
		case !full && errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		errs = append(errs, err)
	}
	read("claims.json", func(data []byte) (err error) { r.Claims, err = ParseClaims(data); return err })
	read("answer.json", func(data []byte) (err error) { r.Answer, err = ParseAnswer(data, r.Claims); return err })
	if full && r.Answer != nil {
		errs = append(errs, r.shown())
	}
	r.neighbours(out)
	return errors.Join(errs...)
}

// shown returns an error if a figure or table of the paper is not shown.
func (r *Report) shown() error {
	for _, i := range r.Answer.Items {
		if !r.Has(i.Figure) {
			return fmt.Errorf("answer: %s is to be shown by the figure %q, which is not there", i.Name, i.Figure)
		}
	}
	return nil
}

// Has reports whether there is a figure of that name.
func (r *Report) Has(figure string) bool {
	return slices.ContainsFunc(r.Sections, func(s Section) bool {
		return slices.ContainsFunc(s.Figures, func(f Figure) bool { return f.Name == figure })
	})
}

// neighbours finds the pages in the folder out that lead on from the report.
func (r *Report) neighbours(out string) {
	there := func(path string) string {
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(path))); err != nil {
			return ""
		}
		return path
	}
	for i, s := range r.Sections {
		r.Sections[i].Page = there("html/" + s.Name + ".html")
	}
	r.Playground = there("site/playground.html")
}

// save writes the report, its page and its crate into the folder out.
func (r *Report) save(out string) error {
	page, err := r.Page()
	if err != nil {
		return err
	}
	record, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(out, "report.json"), append(record, '\n')); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	if err := atomicfile.WriteFile(filepath.Join(out, "index.html"), page); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	if err := r.saveCrate(out); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	return nil
}

// Redraw writes the page of the last run in the folder out anew, with links to
// what came into the folder since. It returns the report, or an error if there
// was no run.
func Redraw(out string) (*Report, error) {
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return nil, fmt.Errorf("reproduce: no report of a run: %w", err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reproduce: report.json: %w", err)
	}
	if err := r.gather(out, !r.Partly()); err != nil {
		return nil, err
	}
	return &r, r.save(out)
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
