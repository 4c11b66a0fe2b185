// Package drawn reads the data of a figure from its CSV. Tests use it to
// compare the figure with the results that it shows.
package drawn

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"
)

// A Figure is a figure of package viz.
type Figure interface {
	Name() string
	CSV() ([]byte, error)
}

// A Point is a point of a series. For a reference line or a bar, one coordinate
// is 0.
type Point struct {
	X, Y float64
	Text string
}

// Series returns the points of every series of a chart; the key is "panel:
// series". The key of a panel without a title is its number, from 1.
func Series(t testing.TB, f Figure) map[string][]Point {
	t.Helper()
	series := map[string][]Point{}
	for _, r := range records(t, f)[1:] {
		if r[2] == "lost" {
			continue
		}
		x, _ := strconv.ParseFloat(r[3], 64)
		y, _ := strconv.ParseFloat(r[4], 64)
		key := r[0] + ": " + r[1]
		series[key] = append(series[key], Point{x, y, r[5]})
	}
	return series
}

// Xs returns the x of a series without repetitions of consecutive points. For a
// distribution function of a few samples these are the samples.
func Xs(points []Point) []float64 {
	var x []float64
	for _, p := range points {
		if len(x) == 0 || x[len(x)-1] != p.X {
			x = append(x, p.X)
		}
	}
	return x
}

// Ys returns the y of all points of a series.
func Ys(points []Point) []float64 {
	y := make([]float64, len(points))
	for i, p := range points {
		y[i] = p.Y
	}
	return y
}

// Cells returns the rows of a table, each as a map from the names of the
// columns to the cells.
func Cells(t testing.TB, f Figure) []map[string]string {
	t.Helper()
	all := records(t, f)
	rows := make([]map[string]string, len(all)-1)
	for i, r := range all[1:] {
		rows[i] = map[string]string{}
		for j, name := range all[0] {
			rows[i][name] = r[j]
		}
	}
	return rows
}

func records(t testing.TB, f Figure) [][]string {
	t.Helper()
	text, err := f.CSV()
	if err != nil {
		t.Fatalf("%s: %v", f.Name(), err)
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %d rows, %v", f.Name(), len(all), err)
	}
	return all
}
