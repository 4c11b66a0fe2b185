package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/internal/sample"
)

// quotients are units of ratios: the time of an exact product over that of an
// emulated one, and that of a device over that of a plan on it.
var quotients = []string{"exact/emulated", "of-device"}

// table collects the results of all rounds, by the names of the benchmarks
// without the number of threads.
type table struct {
	order   []string
	lines   map[string]*line
	fastest bool // print the fastest of all rounds in place of medians
}

// line contains the results of one benchmark in every round: its speed in unit
// on one thread by processor time and that of OpenBLAS beside it; how many
// times as fast it is on two threads as on one, in turn by the clock, and the
// fastest on two and on one in those turns; the speed of MMA-Sim, and the
// percentage of the multiply-adds that each path computed.
type line struct {
	unit         string
	speed, sgemm []float64
	ofOne        []float64
	two, one     []float64
	mmaSim       []float64
	paths        map[string]float64
}

// add adds the printed results of a run of benchmarks, the speeds of OpenBLAS
// before and after it, and that of MMA-Sim, 0 for none.
func (t *table) add(out string, before, after, mmaSim float64) {
	yardstick := (before + after) / 2
	if t.fastest {
		yardstick = max(before, after)
	}
	for text := range strings.Lines(out) {
		name, unit, values, ok := parse(text)
		if !ok {
			continue
		}
		name, threads, _ := strings.Cut(name, "/threads=")
		l := t.line(name, unit)
		speed := values[unit]
		if x := values["fastest-"+unit]; t.fastest && x > 0 {
			speed = x
		}
		for unit, share := range values {
			if path, ok := strings.CutPrefix(unit, "%"); ok {
				l.paths[strings.ReplaceAll(path, "_", " ")] = share
			}
		}
		if threads == "2" {
			if ratio := values["of-one"]; ratio > 0 {
				l.ofOne = append(l.ofOne, ratio)
				l.two = append(l.two, values["fastest-"+unit])
				l.one = append(l.one, values["fastest-one-"+unit])
			}
			continue
		}
		l.speed = append(l.speed, speed)
		if yardstick > 0 {
			l.sgemm = append(l.sgemm, yardstick)
		}
		if mmaSim > 0 {
			l.mmaSim = append(l.mmaSim, mmaSim)
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
		l = &line{unit: unit, paths: map[string]float64{}}
		t.lines[name] = l
		t.order = append(t.order, name)
	}
	return l
}

// parse returns name, unit of speed and all values of a line such as
//
//	BenchmarkGEMM/device=x/n=512/threads=1-2   10   12345 ns/op   678 MMAC/s
func parse(text string) (name, unit string, values map[string]float64, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", "", nil, false
	}
	values = map[string]float64{}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", "", nil, false
		}
		values[fields[i+1]] = value
		if u := fields[i+1]; u == "MMAC/s" || u == "Melem/s" || slices.Contains(quotients, u) {
			unit = u
		}
	}
	name = strings.TrimPrefix(fields[0], "Benchmark")
	if j := strings.LastIndexByte(name, '-'); j > strings.LastIndexByte(name, '=') {
		name = name[:j] // the number of processors
	}
	return name, unit, values, unit != ""
}

// typical returns the median of x, or with fastest the greatest.
func (t *table) typical(x []float64) float64 {
	if t.fastest {
		return slices.Max(x)
	}
	return sample.Median(x)
}

// ratio returns the median of the quotients of x and y in each round, or with
// fastest the quotient of the greatest of each, and 0 if a round lacks one.
func (t *table) ratio(x, y []float64) float64 {
	switch {
	case len(y) == 0 || len(x) != len(y):
		return 0
	case t.fastest:
		return slices.Max(x) / slices.Max(y)
	}
	quotients := make([]float64, len(y))
	for i := range y {
		quotients[i] = x[i] / y[i]
	}
	return sample.Median(quotients)
}

// print writes what is typical of all rounds as a table in Markdown.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "| benchmark | speed, one thread | of OpenBLAS sgemm | two threads over one | paths |")
	fmt.Fprintln(w, "|---|--:|--:|--:|---|")
	for _, name := range t.order {
		l := t.lines[name]
		if len(l.speed) == 0 {
			continue // timed on two threads alone
		}
		speed, sgemm := fmt.Sprintf("%.0f", t.typical(l.speed)), l.sgemm
		if slices.Contains(quotients, l.unit) {
			speed, sgemm = fmt.Sprintf("%.2f", sample.Median(l.speed)), nil
		}
		fmt.Fprintf(w, "| %s | %s %s | %s | %s | %s |\n", strings.ReplaceAll(name, "/", " "), speed, l.unit,
			significant(t.ratio(l.speed, sgemm)), significant(t.twoOverOne(l)), l.shares())
	}
}

// printThreads writes, for each way that products took, how much faster they
// were on two threads than on one: the least of the benchmarks, the median and
// the greatest. Benchmarks that tell no way are told by their names. Of none on
// two threads it writes nothing.
func (t *table) printThreads(w io.Writer) {
	ways := map[string][]float64{}
	for _, name := range t.order {
		l := t.lines[name]
		if ratio := t.twoOverOne(l); ratio > 0 {
			way := l.way()
			if way == "" {
				way, _, _ = strings.Cut(name, "/")
			}
			ways[way] = append(ways[way], ratio)
		}
	}
	if len(ways) == 0 {
		return
	}
	const wanted = 1.8
	fmt.Fprintf(w, "\n| two threads over one | benchmarks | least | median | greatest | %v or more |\n", wanted)
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|")
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		x, enough := ways[way], 0
		for _, ratio := range x {
			if ratio >= wanted {
				enough++
			}
		}
		fmt.Fprintf(w, "| %s | %d | %.2f | %.2f | %.2f | %d |\n", way, len(x), slices.Min(x), sample.Median(x), slices.Max(x), enough)
	}
}

// printRival writes the speeds of what MMA-Sim computes, too.
func (t *table) printRival(w io.Writer) {
	fmt.Fprintln(w, "| benchmark | speed, one thread | MMA-Sim | ratio |")
	fmt.Fprintln(w, "|---|--:|--:|--:|")
	for _, name := range t.order {
		if l := t.lines[name]; len(l.mmaSim) > 0 {
			ours, theirs := t.typical(l.speed), t.typical(l.mmaSim)
			fmt.Fprintf(w, "| %s | %.0f %s | %.0f %s | %.0f |\n", strings.ReplaceAll(name, "/", " "), ours, l.unit, theirs, l.unit, ours/theirs)
		}
	}
}

// way returns the path that computed most, the first of those by name.
func (l *line) way() (most string) {
	for _, path := range slices.Sorted(maps.Keys(l.paths)) {
		if most == "" || l.paths[path] > l.paths[most] {
			most = path
		}
	}
	return most
}

// shares returns the paths and their percentages, those of less than 1 % left
// out.
func (l *line) shares() string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(l.paths)) {
		if share := l.paths[path]; share >= 99.95 {
			list = append(list, path)
		} else if share >= 1 {
			list = append(list, fmt.Sprintf("%s %.0f %%", path, share))
		}
	}
	return strings.Join(list, ", ")
}

// significant returns x as text, to two significant digits at least, and "" for
// 0.
func significant(x float64) string {
	switch {
	case x == 0:
		return ""
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	case x >= 0.01:
		return fmt.Sprintf("%.3f", x)
	default:
		return fmt.Sprintf("%.4f", x)
	}
}

// twoOverOne returns how many times as fast two threads are as one, 0 if that
// was not timed: the median of the rounds, or with fastest the fastest on two
// of all rounds over the fastest on one.
func (t *table) twoOverOne(l *line) float64 {
	switch {
	case len(l.ofOne) == 0:
		return 0
	case t.fastest:
		return t.ratio(l.two, l.one)
	}
	return sample.Median(l.ofOne)
}
