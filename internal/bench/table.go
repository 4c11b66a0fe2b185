package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// table collects the results of all rounds, by the names of the benchmarks
// without the number of threads.
type table struct {
	order []string
	lines map[string]*line
}

// line contains the results of one benchmark in every round: its speed in unit
// on one thread, the ratio of this speed to that of OpenBLAS, and the ratio of
// the speed on two threads to that on one.
type line struct {
	unit                  string
	speed, ratio, threads []float64
}

// add adds the printed results of a run of benchmarks.
func (t *table) add(out string, yardstick float64) {
	for text := range strings.Lines(out) {
		name, unit, speed, ok := parse(text)
		if !ok {
			continue
		}
		name, threads, _ := strings.Cut(name, "/threads=")
		l := t.line(name, unit)
		if threads == "2" {
			l.threads = append(l.threads, speed/l.speed[len(l.speed)-1])
			continue
		}
		l.speed = append(l.speed, speed)
		if yardstick > 0 {
			l.ratio = append(l.ratio, speed/yardstick)
		}
	}
}

// line returns the line of a benchmark and adds it if it does not exist.
func (t *table) line(name, unit string) *line {
	l, ok := t.lines[name]
	if !ok {
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		l = &line{unit: unit}
		t.lines[name] = l
		t.order = append(t.order, name)
	}
	return l
}

// parse returns name and speed of a line such as
//
//	BenchmarkGEMM/device=x/n=512/threads=1-2   10   12345 ns/op   678 MMAC/s
func parse(text string) (name, unit string, speed float64, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", "", 0, false
	}
	for i := 2; i+1 < len(fields); i += 2 {
		if unit = fields[i+1]; unit != "MMAC/s" && unit != "Melem/s" {
			continue
		}
		speed, err := strconv.ParseFloat(fields[i], 64)
		name = strings.TrimPrefix(fields[0], "Benchmark")
		if j := strings.LastIndexByte(name, '-'); j > strings.LastIndexByte(name, '=') {
			name = name[:j] // the number of processors
		}
		return name, unit, speed, err == nil
	}
	return "", "", 0, false
}

// print writes the medians over all rounds as a table in Markdown.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "| benchmark | speed, one thread | of OpenBLAS sgemm | two threads over one |")
	fmt.Fprintln(w, "|---|--:|--:|--:|")
	for _, name := range t.order {
		l := t.lines[name]
		fmt.Fprintf(w, "| %s | %.0f %s | %s | %s |\n", strings.ReplaceAll(name, "/", " "), median(l.speed), l.unit,
			optional(l.ratio), optional(l.threads))
	}
}

// optional returns the median of x as text, or "" if x is empty.
func optional(x []float64) string {
	if len(x) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", median(x))
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
