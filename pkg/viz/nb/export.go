package nb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// record is the content of NAME.json.
type record struct {
	Name     string `json:"name"`
	Finding  string `json:"finding"`
	Details  string `json:"details"`
	Notebook string `json:"notebook"`
	Kind     string `json:"kind"`
	Order    int64  `json:"order"`
	HTML     string `json:"html"`
}

// newRecord returns the record of a figure that is being shown.
func newRecord(f viz.Figure) (r record, err error) {
	r = record{Name: f.Name(), Finding: f.Finding(), Details: f.Details(), Notebook: os.Getenv("ROUNDOFF_NOTEBOOK"), Order: order()}
	switch f := f.(type) {
	case *viz.Chart:
		r.Kind = "figure"
	case *viz.Table:
		r.Kind = "table"
		r.HTML = f.HTML()
	case *viz.Schematic:
		r.Kind = "schematic"
	default:
		err = fmt.Errorf("unknown kind %T", f)
	}
	return r, err
}

var last atomic.Int64

// order returns the time in nanoseconds since 1970, larger at every call.
func order() int64 {
	for {
		before, now := last.Load(), time.Now().UnixNano()
		if now <= before {
			now = before + 1
		}
		if last.CompareAndSwap(before, now) {
			return now
		}
	}
}

// export writes the files of a figure to the folder dir. The record is written
// last, so that its presence implies that of the figure.
func export(dir string, d viz.Drawing) error {
	r, err := newRecord(d.Figure)
	if err != nil {
		return err
	}
	record, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		ext  string
		data []byte
	}{{".svg", d.SVG}, {".png", d.PNG}, {".csv", d.CSV}, {".json", record}} {
		if err := atomicfile.WriteFile(filepath.Join(dir, d.Figure.Name()+file.ext), file.data); err != nil {
			return err
		}
	}
	return nil
}
