package sweep

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// columns are the columns of a file: their names, and how each field is written
// and read.
var columns = []struct {
	name  string
	write func(r *Row) string
	read  func(r *Row, text string) error
}{
	text("machine", func(r *Row) *string { return &r.Machine }),
	text("data", func(r *Row) *string { return &r.Data }),
	integer("m", func(r *Row) *int { return &r.M }),
	integer("n", func(r *Row) *int { return &r.N }),
	integer("k", func(r *Row) *int { return &r.K }),
	number("confidence", -1, func(r *Row) *float64 { return &r.Confidence }),
	truth("per_output", func(r *Row) *bool { return &r.PerOutput }),
	text("bound", func(r *Row) *string { return &r.Bound }),
	truth("deterministic", func(r *Row) *bool { return &r.Deterministic }),
	text("verdict", func(r *Row) *Verdict { return &r.Verdict }),
	{"seeds", func(r *Row) string { return FormatSeeds(r.Seeds) }, func(r *Row, s string) (err error) {
		r.Seeds, err = ParseSeeds(s)
		return err
	}},
	integer("runs", func(r *Row) *int { return &r.Runs }),
	integer("failed", func(r *Row) *int { return &r.Failed }),
	integer("outputs", func(r *Row) *int { return &r.Outputs }),
	integer("violations", func(r *Row) *int { return &r.Violations }),
	number("tightness", 3, func(r *Row) *float64 { return &r.Tightness }),
	number("largest", 3, func(r *Row) *float64 { return &r.Largest }),
	number("constant", 3, func(r *Row) *float64 { return &r.Constant }),
	{"ratios", func(r *Row) string { return r.Ratios.String() }, func(r *Row, s string) (err error) {
		r.Ratios, err = ParseSketch(s)
		return err
	}},
	number("mean", -1, func(r *Row) *float64 { return &r.mean }),
	number("square", -1, func(r *Row) *float64 { return &r.square }),
	number("e", -1, func(r *Row) *float64 { return &r.e }),
	number("s", -1, func(r *Row) *float64 { return &r.s }),
	number("es", -1, func(r *Row) *float64 { return &r.es }),
	number("ss", -1, func(r *Row) *float64 { return &r.ss }),
	number("product_s", 4, func(r *Row) *float64 { return &r.Product }),
	number("exact_s", 4, func(r *Row) *float64 { return &r.Exact }),
	number("predicted_mean", 4, func(r *Row) *float64 { return &r.Predicted.Mean }),
	number("predicted_slope", 4, func(r *Row) *float64 { return &r.Predicted.Slope }),
	number("predicted_spread", 4, func(r *Row) *float64 { return &r.Predicted.Spread }),
	{"told", func(r *Row) string { return map[bool]string{true: r.Told.String()}[r.Told != FromDistribution] }, func(r *Row, s string) (err error) {
		if s != "" {
			r.Told, err = ParseTold(s)
		}
		return err
	}},
	truth("ranges", func(r *Row) *bool { return &r.Ranges }),
	truth("represented", func(r *Row) *bool { return &r.Represented }),
	{"skipped", func(r *Row) string { return map[bool]string{true: strconv.Itoa(r.Skipped)}[r.Skipped != 0] }, func(r *Row, s string) (err error) {
		if s != "" {
			r.Skipped, err = strconv.Atoi(s)
		}
		return err
	}},
	text("why", func(r *Row) *string { return &r.Why }),
	text("recipe", func(r *Row) *string { return &r.Recipe }),
	number("quantised_mean", -1, func(r *Row) *float64 { return &r.Quantised.mean }),
	number("quantised_square", -1, func(r *Row) *float64 { return &r.Quantised.square }),
	number("quantised_largest", 3, func(r *Row) *float64 { return &r.Quantised.Largest }),
	number("accumulated_mean", -1, func(r *Row) *float64 { return &r.Accumulated.mean }),
	number("accumulated_square", -1, func(r *Row) *float64 { return &r.Accumulated.square }),
	number("accumulated_largest", 3, func(r *Row) *float64 { return &r.Accumulated.Largest }),
	number("conversion", 3, func(r *Row) *float64 { return &r.Conversion }),
}

// fewest is the least number of columns of a file. A file may lack the columns
// after these; their fields are then read as empty.
const fewest = 30

type column = struct {
	name  string
	write func(r *Row) string
	read  func(r *Row, text string) error
}

func text[T ~string](name string, at func(*Row) *T) column {
	return column{name, func(r *Row) string { return string(*at(r)) }, func(r *Row, s string) error {
		*at(r) = T(s)
		return nil
	}}
}

func integer(name string, at func(*Row) *int) column {
	return column{name, func(r *Row) string { return strconv.Itoa(*at(r)) }, func(r *Row, s string) (err error) {
		*at(r), err = strconv.Atoi(s)
		return err
	}}
}

func truth(name string, at func(*Row) *bool) column {
	return column{name, func(r *Row) string { return map[bool]string{true: "yes"}[*at(r)] }, func(r *Row, s string) error {
		*at(r) = s == "yes"
		if s != "yes" && s != "" {
			return fmt.Errorf("%q, want yes or nothing", s)
		}
		return nil
	}}
}

// number is a column of numbers with the given number of significant digits, -1
// for all of them. 0 and NaN are written as empty fields. An empty field is
// read as 0, or as NaN in the columns of predictions.
func number(name string, digits int, at func(*Row) *float64) column {
	none := 0.0
	if strings.HasPrefix(name, "predicted") {
		none = math.NaN()
	}
	return column{name, func(r *Row) string {
		if x := *at(r); x != 0 && !math.IsNaN(x) {
			return strconv.FormatFloat(x, 'g', digits, 64)
		}
		return ""
	}, func(r *Row, s string) (err error) {
		if *at(r) = none; s != "" {
			*at(r), err = strconv.ParseFloat(s, 64)
		}
		return err
	}}
}

// Write writes rows as CSV, after the lines of the comment. It omits the empty
// fields at the end of a row. It returns an error only if w does.
func Write(w io.Writer, comment string, rows []Row) error {
	b := bufio.NewWriter(w)
	for line := range strings.SplitSeq(comment, "\n") {
		fmt.Fprintf(b, "# %s\n", line)
	}
	c := csv.NewWriter(b)
	record := make([]string, len(columns))
	for i, col := range columns {
		record[i] = col.name
	}
	c.Write(record) // c.Error returns the first error, below
	for _, r := range rows {
		for i, col := range columns {
			record[i] = col.write(&r)
		}
		last := len(record)
		for record[last-1] == "" {
			last--
		}
		c.Write(record[:last])
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return err
	}
	return b.Flush()
}

// longest is the number of bytes that a file of rows must stay below, and
// longestComment that of a line of its comment.
const longest, longestComment = 1 << 28, 1 << 16

// Read reads what Write wrote, less than 256 MiB, and returns the rows and the
// comment. An error names the line. What [Part.Write] wrote it reads too, with
// the manifest as the comment, as long as that is below 64 KiB.
func Read(r io.Reader) (rows []Row, comment string, err error) {
	limited := &io.LimitedReader{R: r, N: longest}
	b := bufio.NewReaderSize(limited, longestComment)
	var lines []string
	for {
		c, err := b.Peek(1)
		if err != nil || c[0] != '#' {
			break
		}
		line, err := b.ReadSlice('\n')
		if err != nil {
			break
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimSuffix(string(line), "\n"), "# "))
	}
	if begins, _ := b.Peek(len(columns[0].name) + 1); string(begins) != columns[0].name+"," {
		return nil, "", fmt.Errorf("sweep: line %d begins with %q, want %q", len(lines)+1, begins, columns[0].name+",")
	}
	c := csv.NewReader(b)
	c.FieldsPerRecord = -1
	header, err := c.Read()
	if err != nil {
		return nil, "", fmt.Errorf("sweep: no header: %w", err)
	}
	ok := fewest <= len(header) && len(header) <= len(columns)
	for i := 0; ok && i < len(header); i++ {
		ok = header[i] == columns[i].name
	}
	if !ok {
		return nil, "", fmt.Errorf("sweep: columns %q, want %d that begin with machine, data", header, len(columns))
	}
	seeds := seedLists{}
	for n := len(lines) + 2; ; n++ {
		record, err := c.Read()
		if limited.N == 0 {
			return nil, "", fmt.Errorf("sweep: more than %d bytes", longest)
		}
		if err == io.EOF {
			return rows, strings.Join(lines, "\n"), nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("sweep: %w", err)
		}
		if len(record) > len(columns) {
			return nil, "", fmt.Errorf("sweep: line %d has %d fields, want at most %d", n, len(record), len(columns))
		}
		record = append(record, make([]string, len(columns)-len(record))...)
		var r Row
		for i, col := range columns {
			if col.name == "seeds" {
				r.Seeds, err = seeds.parse(record[i])
			} else {
				err = col.read(&r, record[i])
			}
			if err != nil {
				return nil, "", fmt.Errorf("sweep: line %d, %s: %w", n, col.name, err)
			}
		}
		if err := r.check(); err != nil {
			return nil, "", fmt.Errorf("sweep: line %d, %w", n, err)
		}
		if r.Bound == ErrorRow {
			r.count = float64(r.Outputs)
			if r.Recipe != "" {
				r.Quantised.count, r.Accumulated.count = r.count, r.count
			}
		}
		rows = append(rows, r)
	}
}

// seedLists maps the text of a list of seeds to the list. Many rows of a file
// share one list.
type seedLists map[string][]uint64

// parse returns the seeds of a row. The different lists of a file may have at
// most ten million seeds in all.
func (l seedLists) parse(text string) (list []uint64, err error) {
	if list, ok := l[text]; ok {
		return list, nil
	}
	if list, err = ParseSeeds(text); err != nil {
		return nil, err
	}
	l[text] = list
	all := 0
	for _, s := range l {
		all += len(s)
	}
	if all > 10_000_000 {
		return nil, fmt.Errorf("more than ten million seeds in the file")
	}
	return list, nil
}

// check returns an error that names the first field whose value is impossible.
func (r *Row) check() error {
	isNumber := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	for _, f := range []struct {
		name  string
		ok    bool
		value any
		want  string
	}{
		{"machine", r.Machine != "", r.Machine, "a name"},
		{"data", r.Data != "", r.Data, "a name"},
		{"bound", r.Bound != "", r.Bound, "a name"},
		{"m", r.M >= 1, r.M, "1 or more"},
		{"n", r.N >= 1, r.N, "1 or more"},
		{"k", r.K >= 1, r.K, "1 or more"},
		{"confidence", r.Bound == ErrorRow && r.Confidence == 0 || 0 < r.Confidence && r.Confidence < 1, r.Confidence, "a number between 0 and 1"},
		{"verdict", r.Verdict == Holds || r.Verdict == NotMachine || r.Verdict == NotData, r.Verdict,
			fmt.Sprintf("%s, %s or %s", Holds, NotMachine, NotData)},
		{"runs", r.Runs >= 0 && (r.Runs > 0 || r.Bound == ErrorRow) && r.Runs <= len(r.Seeds), r.Runs, "1 or more, at most one for each seed"},
		{"failed", 0 <= r.Failed && r.Failed <= r.Runs, r.Failed, "at most runs"},
		{"outputs", r.Runs <= r.Outputs && (r.Runs > 0 || r.Outputs == 0), r.Outputs, "at least runs"},
		{"violations", r.Failed <= r.Violations && r.Violations <= r.Outputs && (r.Failed > 0 || r.Violations == 0), r.Violations,
			"at least failed, at most outputs"},
		{"tightness", r.Tightness >= 0, r.Tightness, "0 or more"},
		{"largest", r.Largest >= r.Tightness*(1-1e-2), r.Largest, "at least tightness"},
		{"constant", r.Constant >= 0, r.Constant, "0 or more"},
		{"ratios", r.Ratios.Count() <= r.Outputs, r.Ratios.Count(), "at most outputs"},
		{"mean", isNumber(r.mean), r.mean, "a number"},
		{"square", isNumber(r.square) && r.square >= 0, r.square, "0 or more"},
		{"e", isNumber(r.e), r.e, "a number"},
		{"s", isNumber(r.s), r.s, "a number"},
		{"es", isNumber(r.es), r.es, "a number"},
		{"ss", isNumber(r.ss) && r.ss >= 0, r.ss, "0 or more"},
		{"product_s", isNumber(r.Product) && r.Product >= 0, r.Product, "0 or more"},
		{"exact_s", isNumber(r.Exact) && r.Exact >= 0, r.Exact, "0 or more"},
		{"skipped", r.Skipped >= 0, r.Skipped, "0 or more"},
		{"quantised_mean", isNumber(r.Quantised.mean), r.Quantised.mean, "a number"},
		{"quantised_square", isNumber(r.Quantised.square) && r.Quantised.square >= 0, r.Quantised.square, "0 or more"},
		{"quantised_largest", isNumber(r.Quantised.Largest) && r.Quantised.Largest >= 0, r.Quantised.Largest, "0 or more"},
		{"accumulated_mean", isNumber(r.Accumulated.mean), r.Accumulated.mean, "a number"},
		{"accumulated_square", isNumber(r.Accumulated.square) && r.Accumulated.square >= 0, r.Accumulated.square, "0 or more"},
		{"accumulated_largest", isNumber(r.Accumulated.Largest) && r.Accumulated.Largest >= 0, r.Accumulated.Largest, "0 or more"},
		{"conversion", r.Conversion >= 0, r.Conversion, "0 or more"},
	} {
		if !f.ok {
			return fmt.Errorf("%s: %v, want %s", f.name, f.value, f.want)
		}
	}
	return nil
}

// FormatSeeds returns seeds in the form that ParseSeeds reads, as in
// 1:5,8.
func FormatSeeds(seeds []uint64) string {
	var words []string
	for i := 0; i < len(seeds); {
		j := i
		for j+1 < len(seeds) && seeds[j+1] == seeds[j]+1 {
			j++
		}
		word := strconv.FormatUint(seeds[i], 10)
		if j > i {
			word += ":" + strconv.FormatUint(seeds[j], 10)
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}

// ParseSeeds returns the seeds that s names in increasing order: 1:5,8 names 1,
// 2, 3, 4, 5 and 8. An error says that s is malformed, that it names a seed
// twice, or that it names too many: more than a million in one range, or a
// further seed after a million.
func ParseSeeds(s string) ([]uint64, error) {
	seeds, err := seedsOf(s)
	if err != nil {
		return nil, err
	}
	slices.Sort(seeds)
	if len(slices.Compact(slices.Clone(seeds))) < len(seeds) {
		return nil, fmt.Errorf("sweep: seeds %q, want none twice", s)
	}
	return seeds, nil
}

// seedsOf is ParseSeeds for seeds in the order in which they are named, some
// perhaps twice.
func seedsOf(s string) (seeds []uint64, err error) {
	const most = 1_000_000
	for word := range strings.SplitSeq(s, ",") {
		first, last, ok := strings.Cut(word, ":")
		if !ok {
			last = first
		}
		lo, errLo := strconv.ParseUint(strings.TrimSpace(first), 10, 64)
		hi, errHi := strconv.ParseUint(strings.TrimSpace(last), 10, 64)
		if errLo != nil || errHi != nil || lo > hi || hi-lo >= most-uint64(len(seeds)) {
			return nil, fmt.Errorf("sweep: seeds %q, want numbers and ranges as in 1:5,8, a million at most", s)
		}
		for i := range hi - lo + 1 {
			seeds = append(seeds, lo+i)
		}
	}
	return seeds, nil
}
