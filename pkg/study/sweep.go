package study

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// ReducedSweep is the plan of a sweep of six machines and three distributions
// that takes a few seconds. It has fewer rows of D, shorter sums and fewer
// seeds than [RecordedSweep].
var ReducedSweep = sweep.Plan{
	Machines: []tcore.Machine{sweep.Paper, sweep.Volta, sweep.Ampere, sweep.Hopper, sweep.HopperE4M3, sweep.CDNA3},
	Data:     []sweep.Generator{sweep.Symmetric, sweep.Positive, sweep.Normal},
	M:        16, N: 8, Ks: []int{256, 4096}, Seeds: []uint64{101, 102}, Confidences: []float64{paper.Confidence},
}

// BreakingSweep is the plan of a sweep with data that violate an assumption of
// some bound.
var BreakingSweep = sweep.Plan{
	Machines: []tcore.Machine{sweep.Paper, sweep.Hopper},
	Data:     []sweep.Generator{sweep.Ties, sweep.Constant, sweep.LowBits, sweep.Pairing, sweep.Misinformed, sweep.Cancelling, sweep.Scaled},
	M:        4, N: 4, Ks: []int{32768}, Seeds: []uint64{101}, Confidences: []float64{paper.Confidence},
}

// BoundSweep contains the results of a sweep, and their origin. The methods
// that return a table, a chart or a summary panic if Rows is empty.
type BoundSweep struct {
	Rows   []sweep.Row
	Origin string // a sentence for captions
	stem   string // the beginning of the names of its figures
}

// RecordedSweep returns the sweep of products of the paper's size that is
// stored in recorded/sweep.csv. An error says that the record cannot be read.
func RecordedSweep() (*BoundSweep, error) { return recordedSweep("sweep") }

// RecordedAMD returns the sweep of AMD's matrix cores that is stored in
// recorded/amd.csv. The error is as for [RecordedSweep].
func RecordedAMD() (*BoundSweep, error) { return recordedSweep("amd") }

// RecordedScaled returns the sweep of block-scaled instructions with scales
// other than 1 that is stored in recorded/scaled.csv. The error is as for
// [RecordedSweep].
func RecordedScaled() (*BoundSweep, error) { return recordedSweep("scaled") }

// RecordedCoverage returns the sweep of a million outputs that is stored in
// recorded/coverage.csv. Its confidences are for single outputs. The error is
// as for [RecordedSweep].
func RecordedCoverage() (*BoundSweep, error) { return recordedSweep("coverage") }

//go:embed recorded
var recorded embed.FS

func recordedSweep(name string) (*BoundSweep, error) {
	f, err := recorded.Open("recorded/" + name + ".csv")
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	defer f.Close()
	rows, comment, err := sweep.Read(f)
	if err != nil {
		return nil, fmt.Errorf("study: recorded/%s.csv: %w", name, err)
	}
	first, more, _ := strings.Cut(comment, "\n")
	if more != "" {
		first += fmt.Sprintf(" and %d like it, joined", 1+strings.Count(more, "\n"))
	}
	return &BoundSweep{rows, "Recorded earlier, not run here: " + first, "recorded" + suffixOf(name)}, nil
}

// suffixOf returns a suffix for the names of the figures of a record, which
// distinguishes them from those of the sweep of the paper's size.
func suffixOf(name string) string {
	if name == "sweep" || name == "coverage" {
		return ""
	}
	return "-" + name
}

// RunSweep runs a plan. The names of the figures of the result begin with stem.
// It panics, and returns an error, as [sweep.Plan.Run] does.
func RunSweep(stem string, p sweep.Plan) (*BoundSweep, error) {
	var task *progress.Task
	before := 0
	rows, err := p.Run(context.Background(), func(done, total int) {
		if task == nil {
			task = progress.Start(total)
		}
		task.Step(done - before)
		before = done
	})
	if task != nil {
		task.End()
	}
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return &BoundSweep{rows, "Run here", stem}, nil
}

// of returns the rows for which want is true.
func (s *BoundSweep) of(want func(sweep.Row) bool) []sweep.Row {
	var rows []sweep.Row
	for _, r := range s.Rows {
		if want(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// cell returns the rows of a machine, distribution and K whose confidence is
// for all outputs together.
func (s *BoundSweep) cell(machine, data string, k int) []sweep.Row {
	return s.of(func(r sweep.Row) bool { return !r.PerOutput && r.Machine == machine && r.Data == data && r.K == k })
}

// distinct returns the distinct values of f over the rows whose confidence is
// for all outputs together, in their order.
func distinct[T comparable](s *BoundSweep, f func(sweep.Row) T) []T {
	var all []T
	for _, r := range s.Rows {
		if x := f(r); !r.PerOutput && !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

func machineOf(r sweep.Row) string { return r.Machine }
func dataOf(r sweep.Row) string    { return r.Data }
func lengthOf(r sweep.Row) int     { return r.K }

// conditions returns the parameters of a sweep and its origin, as text for
// captions.
func (s *BoundSweep) conditions() string {
	r := s.Rows[0]
	confidence := 0.0
	for _, r := range s.Rows {
		confidence = max(confidence, r.Confidence)
		if r.Bound != sweep.ErrorRow {
			confidence = r.Confidence
			break
		}
	}
	return fmt.Sprintf("Emulated, %d × K × %d, seeds %s, %s over all outputs of a product. %s",
		r.M, r.N, sweep.FormatSeeds(r.Seeds), typeset.Percent(confidence), s.Origin)
}

// Counted returns a sentence with the number of outputs, the number of rows in
// which a valid bound is violated, and the number in which a bound is violated
// that is not claimed for the machine or the data.
func (s *BoundSweep) Counted() string {
	outputs, broken, bad := 0, 0, 0
	for _, r := range s.Rows {
		switch {
		case r.Bound == sweep.ErrorRow:
			outputs += r.Outputs
		case r.Verdict != sweep.Holds && r.Violations > 0:
			broken++
		case r.Verdict == sweep.Holds && r.Violations > 0 && !r.PerOutput:
			bad++
		}
	}
	return fmt.Sprintf("of %d outputs, %s a bound that is claimed for its machine and data; %d times a bound fails where it is not claimed",
		outputs, map[bool]string{true: "none exceeds", false: fmt.Sprintf("some exceed, of %d bounds,", bad)}[bad == 0], broken)
}

// Tightness returns the table of τ, the largest |error|/bound of a product (the
// least over the seeds), of every bound on every machine, for one distribution
// and K. Brackets mark a bound that is not claimed for the machine or the data,
// a cross a bound that is violated.
func (s *BoundSweep) Tightness(data string, k int) *viz.Table {
	machines := distinct(s, machineOf)
	cells := map[[2]string]string{}
	var bounds []string
	for _, m := range machines {
		for _, r := range s.cell(m, data, k) {
			if r.Bound == sweep.ErrorRow {
				continue
			}
			cells[[2]string{r.Bound, m}] = tightness(r)
			if !slices.Contains(bounds, r.Bound) {
				bounds = append(bounds, r.Bound)
			}
		}
	}
	t := viz.NewTable(fmt.Sprintf("%s-tightness-%s-%d", s.stem, slugOf(data), k),
		fmt.Sprintf("The tightest bound that holds is %s.", s.tightest(data, k)),
		fmt.Sprintf("τ, the largest |error|/bound of a product, the least over seeds; 1 is as tight as can be. "+
			"In brackets: the bound assumes what is false there. ✗: outputs exceed it, up to what factor, how many. Entries ~ %s, K = %d. %s. Drawn by study.BoundSweep.Tightness.",
			typeset.Minus(data), k, s.conditions()), append([]string{"Bound"}, machines...))
	for _, b := range bounds {
		row := []string{b}
		for _, m := range machines {
			row = append(row, orDash(cells[[2]string{b, m}]))
		}
		t.Row(row...)
	}
	return t
}

// tightness returns the text of a cell of the table.
func tightness(r sweep.Row) string {
	switch {
	case r.Violations > 0:
		return fmt.Sprintf("✗ %s×, %s", times(r.Largest), share(r.Violations, r.Outputs))
	case r.Verdict != sweep.Holds:
		return "(" + typeset.Number(r.Tightness, 2) + ")"
	}
	return typeset.Number(r.Tightness, 2)
}

// times returns the factor x as text, to two digits below 10 and to the nearest
// integer below 10⁴.
func times(x float64) string {
	if x >= 10 && x < 1e4 {
		return fmt.Sprintf("%.0f", x)
	}
	return typeset.Number(x, 2)
}

// share returns the fraction n/total as text.
func share(n, total int) string {
	switch p := 100 * float64(n) / float64(total); {
	case n == total:
		return "all"
	case p < 0.1:
		return fmt.Sprintf("%d of %d", n, total)
	case p > 99:
		return "> 99 %"
	default:
		return typeset.Number(p, 2) + " %"
	}
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// tightest returns the tightest valid bound on each machine, as text.
func (s *BoundSweep) tightest(data string, k int) string {
	var words []string
	for _, m := range distinct(s, machineOf) {
		if r, ok := sweep.Tightest(s.cell(m, data, k), bound.Trace); ok {
			words = append(words, fmt.Sprintf("%s on %s (τ = %s)", r.Bound, m, typeset.Number(r.Tightness, 2)))
		}
	}
	return strings.Join(words, ", ")
}

// Best returns the chart of τ of the tightest valid bound on every machine at
// one K, with a panel for each distribution: among the bounds that can be
// computed before the product, and among all bounds.
func (s *BoundSweep) Best(k int) *viz.Chart {
	machines := distinct(s, machineOf)
	kinds := []struct {
		series viz.Series
		knows  bound.Knowledge
	}{
		{viz.Series{Label: "from the distribution", Color: viz.Orange}, bound.Moments},
		{viz.Series{Label: "from the sums or the trace of the run", Color: viz.SkyBlue}, bound.Trace},
	}
	least := make([]sweep.Row, len(kinds))
	τ := map[string][][]float64{}
	for _, data := range distinct(s, dataOf) {
		for i, kind := range kinds {
			values := make([]float64, len(machines))
			for j, m := range machines {
				r, ok := sweep.Tightest(s.cell(m, data, k), kind.knows)
				if !ok {
					continue
				}
				values[j] = r.Tightness
				if least[i].Bound == "" || r.Tightness < least[i].Tightness {
					least[i] = r
				}
			}
			τ[data] = append(τ[data], values)
		}
	}
	at := func(r sweep.Row) string {
		return fmt.Sprintf("%s, %s on %s with %s", typeset.Number(r.Tightness, 2), r.Bound, r.Machine, typeset.Minus(r.Data))
	}
	c := viz.NewChart(fmt.Sprintf("%s-best-%d", s.stem, k),
		fmt.Sprintf("Seeing a run is worth more than knowing its data: with its sums or its trace τ is %s, at least, without them as little as %s.",
			at(least[1]), at(least[0])),
		fmt.Sprintf("τ of the tightest bound that holds; 1 would be an error that reaches its bound, no bar is no such bound. K = %d. %s. Drawn by study.BoundSweep.Best.",
			k, s.conditions()))
	for _, data := range distinct(s, dataOf) {
		p := c.Panel(typeset.Minus(data), viz.Axis{Label: "τ, the largest |error| / bound", Max: 1}, viz.Axis{Label: "machine"})
		for i, kind := range kinds {
			p.Bars(kind.series, machines, τ[data][i])
		}
	}
	return c
}

// Growth returns the chart of the largest |error|/|A||B| and of bounds on it
// against K, for one distribution, with a panel for each machine. The bounds
// are the tightest valid deterministic and the tightest valid probabilistic
// bound at the largest K, and the paper's theorem where it is violated there.
func (s *BoundSweep) Growth(data string) *viz.Chart {
	ks := distinct(s, lengthOf)
	exponent := map[string]float64{}
	for _, g := range sweep.GrowthOf(s.of(func(r sweep.Row) bool { return r.Data == data && !r.PerOutput })) {
		exponent[g.Machine] = g.Error
	}
	var words []string
	machines := distinct(s, machineOf)
	for _, m := range machines {
		words = append(words, m+" "+typeset.Number(exponent[m], 2))
	}
	c := viz.NewChart(fmt.Sprintf("%s-growth-%s", s.stem, slugOf(data)),
		fmt.Sprintf("The largest |error|/|A||B| grows with a power of K that depends on the machine: %s.", strings.Join(words, ", ")),
		fmt.Sprintf("Beside it the tightest deterministic and probabilistic bounds that hold, and the paper's theorem where it is exceeded. Entries ~ %s. %s. Drawn by study.BoundSweep.Growth.",
			typeset.Minus(data), s.conditions()))
	for _, m := range machines {
		p := c.Panel(m, viz.Axis{Label: "Inner dimension K", Log: true, Min: float64(slices.Min(ks)), Max: float64(slices.Max(ks))},
			viz.Axis{Label: "Largest |error| / |A||B|, and bounds on it", Log: true})
		line := func(series viz.Series, bound string, y func(sweep.Row) float64) {
			var x, values []float64
			for _, k := range ks {
				for _, r := range s.cell(m, data, k) {
					if r.Bound == bound && y(r) > 0 {
						x, values = append(x, float64(k)), append(values, y(r))
					}
				}
			}
			if len(x) > 1 {
				p.Line(series, x, values)
			}
		}
		constant := func(r sweep.Row) float64 { return r.Constant }
		last := s.cell(m, data, slices.Max(ks))
		line(paper.Observed, sweep.ErrorRow, func(r sweep.Row) float64 { return r.Largest })
		for _, kind := range []struct {
			certain bool
			series  viz.Series
		}{{true, paper.DBEA}, {false, paper.VIBEA}} {
			best, ok := sweep.Tightest(slices.DeleteFunc(slices.Clone(last), func(r sweep.Row) bool { return r.Deterministic != kind.certain }), bound.Trace)
			if ok {
				kind.series.Label = best.Bound
				line(kind.series, best.Bound, constant)
			}
		}
		if i := slices.IndexFunc(last, func(r sweep.Row) bool { return r.Bound == "vibea" && r.Violations > 0 }); i >= 0 {
			line(viz.Series{Label: "vibea, exceeded", Color: paper.VIBEA.Color, Style: viz.Dotted}, "vibea", constant)
		}
	}
	return c
}

// Broken returns the table of bounds that are claimed for a machine and are
// violated by data that violate their assumption: the largest |error|/bound
// over all machines.
func (s *BoundSweep) Broken() *viz.Table {
	sets := distinct(s, dataOf)
	largest := map[[2]string]float64{}
	var bounds []string
	var worst sweep.Row
	for _, r := range s.of(func(r sweep.Row) bool { return r.Violations > 0 && !r.PerOutput && r.Verdict != sweep.NotMachine }) {
		if !slices.Contains(bounds, r.Bound) {
			bounds = append(bounds, r.Bound)
		}
		at := [2]string{r.Bound, r.Data}
		largest[at] = max(largest[at], r.Largest)
		if r.Largest > worst.Largest {
			worst = r
		}
	}
	finding := "No bound that holds on a machine is exceeded there"
	if len(bounds) > 0 {
		finding = fmt.Sprintf("Data that break what a bound assumes exceed it by up to %s times, %s on %s with %s", times(worst.Largest), worst.Bound, worst.Machine, worst.Data)
	}
	t := viz.NewTable(s.stem+"-broken",
		fmt.Sprintf("%s; %s.", finding, s.Counted()),
		fmt.Sprintf("The largest |error|/bound, where it is above 1 and the bound holds on the machine. K = %v. %s. Drawn by study.BoundSweep.Broken.",
			distinct(s, lengthOf), s.conditions()), append([]string{"Bound"}, sets...))
	for _, b := range bounds {
		row := []string{b}
		for _, l := range sets {
			cell := "–"
			if x := largest[[2]string{b, l}]; x > 0 {
				cell = times(x) + "×"
			}
			row = append(row, cell)
		}
		t.Row(row...)
	}
	return t
}

// Coverage returns the chart of the observed failure rate of each valid
// probabilistic bound against its stated failure rate, 1 - confidence. As few
// or no outputs violate a bound, the observed rate is the upper end of its
// exact confidence interval (Clopper and Pearson, 99 %). It panics if there is
// no row of such a bound whose confidence is for single outputs.
func (s *BoundSweep) Coverage() *viz.Chart {
	const sure = 0.99
	rows := s.of(func(r sweep.Row) bool {
		return r.PerOutput && r.Bound != sweep.ErrorRow && !r.Deterministic && r.Verdict == sweep.Holds
	})
	if len(rows) == 0 {
		panic("study: Coverage of a sweep without rows of outputs alone")
	}
	worst, most := rows[0], -1.0
	points := map[string][2][]float64{}
	var machines []string
	for _, r := range rows {
		if !slices.Contains(machines, r.Machine) {
			machines = append(machines, r.Machine)
		}
		failed, trials := r.Failures()
		_, hi := sweep.ClopperPearson(failed, trials, sure)
		p := points[r.Data]
		points[r.Data] = [2][]float64{append(p[0], r.NominalRate()), append(p[1], hi)}
		if rate := hi / r.NominalRate(); rate > most {
			worst, most = r, rate
		}
	}
	failed, trials := worst.Failures()
	finding := "No probabilistic bound fails more often than it states"
	if n := len(sweep.Violated(rows, sure)); n > 0 {
		finding = fmt.Sprintf("%d probabilistic bounds fail more often than they state", n)
	}
	c := viz.NewChart(s.stem+"-coverage",
		fmt.Sprintf("%s: nearest to it comes %s at %s, with %d of %d outputs above.",
			finding, worst.Bound+" on "+worst.Machine, typeset.Percent(worst.Confidence), failed, trials),
		fmt.Sprintf("Each point is a bound on a machine: the upper end of the exact interval (Clopper and Pearson, %s) of its failure rate for single outputs, K = %d, on %s. %s. Drawn by study.BoundSweep.Coverage.",
			typeset.Percent(sure), worst.K, strings.Join(machines, ", "), s.Origin))
	for _, data := range slices.Sorted(maps.Keys(points)) {
		p := c.Panel(typeset.Minus(data), viz.Axis{Label: "Failure rate stated, 1 − confidence", Log: true, Min: 3e-4, Max: 0.3},
			viz.Axis{Label: "Failure rate observed, at most", Log: true, Min: 1e-6, Max: 1})
		p.Line(viz.Series{Label: "as stated", Color: viz.Grey, Style: viz.Dotted}, []float64{3e-4, 0.3}, []float64{3e-4, 0.3})
		series := paper.Observed
		series.Label = "bounds"
		p.Points(series, points[data][0], points[data][1])
	}
	return c
}

// Moments returns the table of the measured mean, slope and spread of the
// errors at one K, beside their predictions. It panics if there are no rows of
// errors at this K.
func (s *BoundSweep) Moments(k int) *viz.Table {
	rows := s.of(func(r sweep.Row) bool { return r.Bound == sweep.ErrorRow && !r.PerOutput && r.K == k })
	shift := func(r sweep.Row) float64 { return math.Abs(r.Mean()) / r.Spread() }
	widest, product, exact := rows[0], 0.0, 0.0
	for _, r := range rows {
		if shift(r) > shift(widest) {
			widest = r
		}
		product += r.Product
		exact += r.Exact
	}
	t := viz.NewTable(fmt.Sprintf("%s-moments-%d", s.stem, k),
		fmt.Sprintf("Where products have one sign, truncation shifts all errors: on %s with %s their mean is %s times their spread.",
			widest.Machine, typeset.Minus(widest.Data), times(shift(widest))),
		fmt.Sprintf("Mean and standard deviation of error/|A||B|, and the slope of the error on the exact result, K = %d. Exact errors took %s times as long as the products. %s. Drawn by study.BoundSweep.Moments.",
			k, typeset.Number(exact/product, 2), s.conditions()),
		[]string{"Machine", "Data", "mean", "predicted", "slope", "predicted", "spread", "predicted"})
	for _, r := range rows {
		t.Row(r.Machine, typeset.Minus(r.Data), typeset.Number(r.Mean(), 3), predicted(r.Predicted.Mean), typeset.Number(r.Slope(), 3), predicted(r.Predicted.Slope),
			typeset.Number(r.Spread(), 3), predicted(r.Predicted.Spread))
	}
	return t
}

func predicted(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return typeset.Number(x, 3)
}

// slugOf returns the name of a distribution in a form that is fit to be part of
// a file name.
func slugOf(data string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			return r
		case r == '-':
			return 'm'
		}
		return '-'
	}, data)
	return strings.Trim(slug, "-")
}
