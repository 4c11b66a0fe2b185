package course

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"slices"
	"strconv"
)

// Chart is a chart, which checks read as the numbers that it shows: a
// *viz.Chart, or the data of one that another process drew.
type Chart interface {
	CSV() ([]byte, error)
}

// curve returns the points of the series with the given label. It panics if the
// chart is nil, cannot be drawn or has no such series.
func curve(name string, c Chart, label string) (x, y []float64) {
	if v := reflect.ValueOf(c); !v.IsValid() || v.IsNil() {
		failf("%s() = nil, want a chart", name)
	}
	data, err := c.CSV()
	if err != nil {
		failf("%s() cannot be drawn: %v", name, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		failf("%s() cannot be read: %v", name, err)
	}
	var labels []string
	for i, row := range rows { // panel, series, kind, x, y, text
		if i == 0 {
			continue // headings
		}
		if len(row) < 5 {
			failf("%s() cannot be read: %d fields in a row", name, len(row))
		}
		if row[1] != label {
			if row[1] != "" && !slices.Contains(labels, row[1]) {
				labels = append(labels, row[1])
			}
			continue
		}
		x, y = append(x, number(row[3])), append(y, number(row[4]))
	}
	if len(x) == 0 {
		failf("%s() has no series %q, only %q", name, label, labels)
	}
	return x, y
}

// number parses a field of the CSV of a chart. An empty field, such as y of a
// vertical line, is 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && s != "" {
		failf("a chart holds the number %q", s)
	}
	return v
}

// drawn panics unless the series consists of the given points.
func drawn(name string, c Chart, label string, x, y []float64) {
	gotX, gotY := curve(name, c, label)
	if len(gotX) != len(x) {
		failf("%s(): %q has %d points, want %d", name, label, len(gotX), len(x))
	}
	for i := range x {
		near(name+"(): x of "+label, gotX[i], x[i])
		near(name+"(): "+label+" at "+strconv.FormatFloat(x[i], 'g', 6, 64), gotY[i], y[i])
	}
}
