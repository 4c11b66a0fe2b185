package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// all runs the standard plan. If ctx ends it returns the rows measured so far,
// with the error.
func (q *sweepQuestion) all(ctx context.Context, stderr io.Writer) (rows []sweep.Row, failed error) {
	plans, _, err := q.Results()
	if err != nil {
		return nil, err
	}
	for _, p := range plans {
		units, err := p.Units()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(stderr, "%d machines, %d kinds of data, %d × K × %d, K = %v, seeds %s, told %v\n",
			units, len(p.Data), p.M, p.N, p.Ks, sweep.FormatSeeds(p.Seeds), p.Told)
		bar := newProgress(stderr, "sweep")
		part, err := p.Run(ctx, bar.set)
		bar.done()
		if rows, failed = sweep.Join(rows, part); cmp.Or(err, failed) != nil {
			return rows, cmp.Or(err, failed)
		}
	}
	return rows, nil
}

// digest prints the totals of each bound, and a command for every violation of
// a claimed bound. It returns an error if there is any.
func digest(w io.Writer, rows []sweep.Row) error {
	type record struct {
		name                    string
		cells, outputs, failing int
		worst                   sweep.Row
	}
	found := map[string]*record{}
	products, outputs := 0, 0
	for _, r := range rows {
		if r.Bound == sweep.ErrorRow {
			products += r.Runs
			outputs += r.Outputs
		}
		if r.Bound == sweep.ErrorRow || r.Verdict != sweep.Holds {
			continue
		}
		z := found[r.Bound]
		if z == nil {
			z = &record{name: r.Bound}
			found[r.Bound] = z
		}
		z.cells++
		z.outputs += r.Outputs
		if r.Largest >= z.worst.Largest {
			z.worst = r
		}
	}
	bad := sweep.Violated(rows, sweep.Sure)
	for _, r := range bad {
		found[r.Bound].failing++
	}
	fmt.Fprintf(w, "%d products, %d outputs\n", products, outputs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "claimed bound\tcells\toutputs\tlargest error/bound\ton\tdata\tK\tcells that fail")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		z := found[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3g\t%s\t%s\t%d\t%d\n", name, z.cells, z.outputs, z.worst.Largest, z.worst.Machine, z.worst.Data, z.worst.K, z.failing)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := tellSkipped(w, rows); err != nil {
		return err
	}
	slices.SortStableFunc(bad, func(a, b sweep.Row) int { return cmp.Compare(a.Bound, b.Bound) })
	said := map[string]bool{} // a bound may fail with and without ranges: print one command
	for _, r := range bad {
		line := r.Bound + sweep.CaseOf(r).String()
		if said[line] {
			continue
		}
		said[line] = true
		if _, err := fmt.Fprintf(w, "%s %.3g, %d of %d: %v\n", r.Bound, r.Largest, r.Violations, r.Outputs, sweep.CaseOf(r)); err != nil {
			return err
		}
	}
	return fail(rows)
}

// tellSkipped prints how many outputs were not judged, and why.
func tellSkipped(w io.Writer, rows []sweep.Row) error {
	skipped := map[string]int{}
	for _, r := range rows {
		if r.Skipped > 0 {
			skipped[r.Why] += r.Skipped
		}
	}
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		if _, err := fmt.Fprintf(w, "%d outputs not judged: %s\n", skipped[why], why); err != nil {
			return err
		}
	}
	return nil
}
