package study

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/internal/typeset"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
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
	Origin string // a sentence for captions, without its full stop
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
	rows, _, err := sweep.Read(f)
	if err != nil {
		return nil, fmt.Errorf("study: recorded/%s.csv: %w", name, err)
	}
	return &BoundSweep{rows, "Recorded in pkg/study/recorded/" + name + ".csv", "recorded" + suffixOf(name)}, nil
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

// conditions returns the size, the seeds and the confidence of a sweep and its
// origin, as text for captions. K is the inner dimension, or the letter.
func (s *BoundSweep) conditions(K string) string {
	r := s.Rows[0]
	confidence := 0.0
	for _, r := range s.Rows {
		confidence = max(confidence, r.Confidence)
		if r.Bound != sweep.ErrorRow {
			confidence = r.Confidence
			break
		}
	}
	seeds := "seed "
	if len(r.Seeds) > 1 {
		seeds = "seeds "
	}
	seeds += strings.ReplaceAll(sweep.FormatSeeds(r.Seeds), ":", "–")
	return fmt.Sprintf("%d × %s × %d, %s, %s over all outputs. %s.", r.M, K, r.N, seeds, typeset.Percent(confidence), s.Origin)
}

// Counted returns a clause with the number of outputs and the numbers of rows
// in which outputs exceed a bound: one whose assumptions are met, and one whose
// assumptions are violated.
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
	met := fmt.Sprintf("none of %d outputs exceeds a bound whose assumptions are met", outputs)
	if bad > 0 {
		met = fmt.Sprintf("of %d outputs some exceed %d bounds whose assumptions are met", outputs, bad)
	}
	return fmt.Sprintf("%s; bounds whose assumptions are violated are exceeded in %d cases", met, broken)
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
