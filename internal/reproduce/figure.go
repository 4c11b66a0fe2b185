package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Figure describes a figure or table that a notebook showed: the content of
// figures/NAME.json. In the same folder are the figure itself, NAME.svg and
// NAME.png, and its data, NAME.csv.
type Figure struct {
	Name     string `json:"name"`
	Finding  string `json:"finding"`
	Details  string `json:"details"`
	Notebook string `json:"notebook"` // the notebook's name
	Kind     string `json:"kind"`     // "figure", "table" or "schematic"
	Order    int64  `json:"order"`    // time at which it was shown, in unix nanoseconds
	HTML     string `json:"html"`     // for a table: a <table>

	svg         []byte // read by Check, from its root element on
	interactive bool   // there is a page NAME.html, on which controls change the figure
}

// The files of a figure, each with the bytes at its beginning.
var figureFiles = []struct{ ext, begins string }{
	{".svg", "<"}, {".png", "\x89PNG"}, {".csv", ""}, {".json", "{"},
}

// readFigures returns the figures whose records are in dir, in the order in
// which they were shown. It ignores JSON files that are no records of figures.
func readFigures(dir string) ([]Figure, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var list []Figure
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var f Figure
		if json.Unmarshal(data, &f) != nil || f.Name+".json" != filepath.Base(path) {
			continue
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b Figure) int { return int(min(max(a.Order-b.Order, -1), 1)) })
	return list, nil
}

// pageExt is the extension of a figure's page with controls, which only a few
// figures have.
const pageExt = ".html"

// files returns the paths in dir of the files that the figure must have.
func (f Figure) files(dir string) []string {
	var list []string
	for _, file := range figureFiles {
		list = append(list, filepath.Join(dir, f.Name+file.ext))
	}
	return list
}

// Check returns an error unless the record is complete and all files of the
// figure are in dir and have the type that their names state.
func (f *Figure) Check(dir string) error {
	switch {
	case f.Finding == "":
		return fmt.Errorf("figure %s: no finding", f.Name)
	case f.Notebook == "":
		return fmt.Errorf("figure %s: no notebook", f.Name)
	case !slices.Contains([]string{"figure", "table", "schematic"}, f.Kind):
		return fmt.Errorf("figure %s: kind %q, want figure, table or schematic", f.Name, f.Kind)
	case f.Kind == "table" && !strings.Contains(f.HTML, "<table"):
		return fmt.Errorf("figure %s: a table without <table>", f.Name)
	}
	var errs []error
	for i, path := range f.files(dir) {
		data, err := os.ReadFile(path)
		if err == nil && (len(data) == 0 || !bytes.HasPrefix(data, []byte(figureFiles[i].begins))) {
			err = fmt.Errorf("%s is not what its name says", path)
		}
		if figureFiles[i].ext == ".svg" {
			f.svg = data[max(0, bytes.Index(data, []byte("<svg"))):]
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("figure %s: %w", f.Name, err))
		}
	}
	_, err := os.Stat(filepath.Join(dir, f.Name+pageExt))
	f.interactive = err == nil
	return errors.Join(errs...)
}
