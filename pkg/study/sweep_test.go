package study

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// cells returns the rows of the CSV of a figure, which the header begins.
func cells(t *testing.T, f viz.Figure) [][]string {
	t.Helper()
	data, err := f.CSV()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// smallSweep returns a sweep of three machines that is small enough for a test.
func smallSweep(t *testing.T) *BoundSweep {
	t.Helper()
	s, err := small()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var small = sync.OnceValues(func() (*BoundSweep, error) {
	p := ReducedSweep
	p.Machines, p.M, p.Ks = []tcore.Machine{sweep.Paper, sweep.Volta, sweep.CDNA3}, 8, []int{256, 4096}
	p.Data = p.Data[:2] // U(-1,1) and U(0,1)
	return RunSweep("small", p)
})

// Every bound of the catalogue is in a table of tightness, also one that this
// test does not name.
func TestBoundSweep_Tightness_has_every_bound(t *testing.T) {
	s := smallSweep(t)
	rows := cells(t, s.Tightness("U(0,1)", 4096))
	rows = append(rows, cells(t, s.Tightness("U(-1,1)", 4096))...) // some bounds are for data of mean zero only
	for _, b := range bound.Catalogue() {
		i := slices.IndexFunc(rows, func(r []string) bool { return slices.Contains(strings.Split(r[0], "; "), boundNamed(b.Name)) })
		if (i < 0) != (b.Name == bound.Exact.Name) { // which is no bound
			t.Errorf("%s is in row %d", b.Name, i)
		}
		if i < 0 {
			continue
		}
		switch paper, volta := rows[i][2], rows[i][3]; b.Name {
		case "vibea":
			if strings.ContainsAny(paper, "✗(–") || !strings.Contains(volta, "✗") || !strings.HasSuffix(volta, ", 100 %") {
				t.Errorf("vibea: %q on the paper's model, %q on Volta", paper, volta)
			}
		case "dbea":
			if strings.ContainsAny(paper, "✗(–") || !strings.HasPrefix(volta, "(") {
				t.Errorf("dbea: %q on the paper's model, %q on Volta", paper, volta)
			}
		case "truncation":
			if paper != "–" || strings.ContainsAny(volta, "✗(–") {
				t.Errorf("truncation: %q on the paper's model, %q on Volta", paper, volta)
			}
		}
	}
}

// Each τ of the overview is the least over the cells of the sweep, and does not
// decrease as more is known.
func TestBoundSweep_Overview(t *testing.T) {
	s := smallSweep(t)
	rows := cells(t, s.Overview())[1:]
	if len(rows) != 6 { // three machines, two classes of distributions
		t.Fatalf("%d rows", len(rows))
	}
	names := map[string]string{"paper's model": "paper", "Volta": "volta", "CDNA3": "cdna3"}
	for _, row := range rows {
		last := 0.0
		for i, knows := range []bound.Knowledge{bound.Moments, bound.Sums, bound.Trace} {
			data, least := map[string]string{"mean zero": "U(-1,1)", "one sign": "U(0,1)"}[row[1]], math.Inf(1)
			for _, k := range []int{256, 4096} {
				r, _ := sweep.Tightest(s.cell(names[row[0]], data, k), knows)
				least = min(least, r.Tightness)
			}
			if got := row[3+i]; got != twoDigits(least) || least < last {
				t.Errorf("%s, %s, from %v: %s, want %v, at least %v", row[0], row[1], knows, row[3+i], least, last)
			}
			last = least
		}
		if exceeded := strings.HasPrefix(row[2], "✗"); exceeded != (row[0] == "Volta" && row[1] == "one sign") {
			t.Errorf("%s, %s: VIBEA %s", row[0], row[1], row[2])
		}
	}
}

// The text of Summary has the numbers of the rows, for two machines and one
// distribution of each class.
func TestBoundSweep_Summary(t *testing.T) {
	var rows []sweep.Row
	nothing := sweep.Prediction{Mean: math.NaN(), Slope: math.NaN(), Spread: math.NaN()}
	cell := func(machine, data string, bounds ...sweep.Row) {
		rows = append(rows, sweep.Row{Machine: machine, Data: data, M: 100, N: 1, K: 256, Bound: sweep.ErrorRow, Predicted: nothing})
		for _, b := range bounds {
			b.Machine, b.Data, b.M, b.N, b.K, b.Confidence, b.Runs = machine, data, 100, 1, 256, 0.99, 1
			rows = append(rows, b)
		}
	}
	row := func(name string, verdict sweep.Verdict, τ float64, violations int) sweep.Row {
		r := sweep.Row{Bound: name, Verdict: verdict}
		r.Tightness, r.Largest, r.Outputs, r.Violations = τ, τ, 100, violations
		return r
	}
	cell("paper", "U(-1,1)", row("vibea", sweep.Holds, 0.001, 0), row("typical", sweep.Holds, 0.01, 0), row("running", sweep.Holds, 0.5, 0))
	cell("paper", "U(0,1)", row("vibea", sweep.Holds, 0.1, 0))
	cell("volta", "U(-1,1)", row("vibea", sweep.NotMachine, 0.2, 0), row("truncation", sweep.Holds, 0.04, 0), row("truncation-interval", sweep.Holds, 0.25, 0))
	cell("volta", "U(0,1)", row("vibea", sweep.NotMachine, 3, 25), row("truncation", sweep.Holds, 0.5, 0), row("truncation-interval", sweep.Holds, 0.8, 0))
	const want = "With data of both signs the theorem of the paper is up to 1000 times too large on the paper's model; " +
		"of products of one sign it is exceeded on 25 % of the outputs of tensor cores, of all lengths. " +
		"From the distribution of the data alone follow bounds that hold: 2.0 to 2.0 times the largest error on tensor cores where errors drift, " +
		"25 to 25 times where they cancel, and 100 to 100 times on the paper's model with data of both signs. " +
		"With sums or traces all come within 2.0 to 2.0 times there, and within 1.2 to 1.2 and 4.0 to 4.0 on tensor cores. " +
		"Where the sample is large enough to tell, mean, slope and spread are as predicted, to – on the paper's model, – on Volta."
	if got := (&BoundSweep{Rows: rows}).Summary(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// No bound with the verdict Holds is violated in the recorded sweeps for all
// outputs of a product, and none fails significantly more often than stated.
func TestRecordedSweep(t *testing.T) {
	for name, read := range map[string]func() (*BoundSweep, error){"sweep": RecordedSweep, "coverage": RecordedCoverage, "amd": RecordedAMD, "scaled": RecordedScaled} {
		s, err := read()
		if err != nil {
			t.Fatal(err)
		}
		_, file, _ := strings.Cut(s.Origin, "Recorded in pkg/study/")
		text, err := recorded.ReadFile(file)
		if first, _, _ := strings.Cut(string(text), "\n"); err != nil || !strings.Contains(first, "# roundoff sweep ") || !strings.Contains(first, "-seeds ") {
			t.Errorf("%s: %q does not lead to command and seeds: %q, %v", name, s.Origin, first, err)
		}
		if bad := sweep.Violated(s.Rows, sweep.Sure); len(bad) > 0 {
			t.Errorf("%s: %d claimed bounds fail, %+v", name, len(bad), bad[0])
		}
		for _, r := range s.Rows {
			if r.Verdict == sweep.Holds && r.Violations > 0 && !r.PerOutput {
				t.Errorf("%s: %s on %s, %s: %d violations", name, r.Bound, r.Machine, r.Data, r.Violations)
			}
		}
	}
}

func TestBoundSweep_draws(t *testing.T) {
	s := smallSweep(t)
	recorded, err := RecordedCoverage()
	if err != nil {
		t.Fatal(err)
	}
	p := BreakingSweep
	p.Machines, p.Data = p.Machines[:1], p.Data[:2]
	breaking, err := RunSweep("broken", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []viz.Figure{s.Best(4096), s.Growth("U(0,1)"), s.Moments(4096), breaking.Broken(), recorded.Coverage()} {
		svg, err := f.SVG()
		if err != nil || len(svg) < 1000 || strings.Contains(viz.Caption(f), "NaN") {
			t.Errorf("%s: %v, %q", f.Name(), err, viz.Caption(f))
		}
	}
	if want := " outputs exceeds a bound whose assumptions are met"; !strings.Contains(s.Counted(), want) {
		t.Errorf("%q, want %q in it", s.Counted(), want)
	}
}

// The chart of coverage shows the stated and the observed rate of each bound of
// the record, in the panel of its distribution.
func TestCoverageIsOfTheRecord(t *testing.T) {
	s, err := RecordedCoverage()
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Coverage().CSV()
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, ",points,") {
			drawn[strings.TrimSpace(line)]++
		}
	}
	for _, r := range s.Rows {
		if r.Bound == sweep.ErrorRow || r.Deterministic || r.Verdict != sweep.Holds {
			continue
		}
		_, most := sweep.ClopperPearson(r.Violations, r.Outputs, 0.99)
		point := fmt.Sprintf("%q,a bound on a machine,points,%v,%v,", "Entries ~ "+typeset.Minus(r.Data), 1-r.Confidence, most)
		if drawn[point]--; drawn[point] < 0 {
			t.Errorf("%s on %s is not drawn at %s", r.Bound, r.Machine, point)
		}
	}
	for point, n := range drawn {
		if n > 0 {
			t.Errorf("%d points at %s are of no bound", n, point)
		}
	}
}

// The ratios of the paper's bounds to the largest error are those of the
// claims, and the table ends with another constant from the catalogue.
func TestLooseness(t *testing.T) {
	if testing.Short() {
		t.Skip("a product of the paper's size, sum by sum")
	}
	table, err := Looseness()
	if err != nil {
		t.Fatal(err)
	}
	r, err := paper.DefaultGEMM.Run()
	if err != nil {
		t.Fatal(err)
	}
	rows := cells(t, table)
	for i, id := range []string{"gemm-dbea-overestimates", "gemm-vibea-overestimates"} {
		for _, c := range r.Claims() {
			if c.ID == id && rows[i+1][5] != typeset.Number(*c.Measured, 2) {
				t.Errorf("%s: %s, the claim has %v", rows[i+1][1], rows[i+1][5], *c.Measured)
			}
		}
	}
	if first, last := rows[1][4], rows[len(rows)-1]; last[0] != "elsewhere or here" || first == last[4] {
		t.Errorf("%v", last)
	}
}
