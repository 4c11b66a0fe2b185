package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
)

// rareCommand estimates how often bounds fail where that is too rare to be
// counted.
func rareCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	q := question.NewRare()
	var json bool
	flags := newFlags("rare", "[-flag ...]\n\n"+
		"Estimates how often a bound fails that is to fail rarely, down to 1e-30: the probability that the error of\n"+
		"a dot product of random numbers is beyond it, with a standard error, an interval of 95 %, and the ratio\n"+
		"to the rate that the bound states. It goes to rare errors by levels (multilevel splitting), on any device;\n"+
		"with -stochastic the numbers are drawn once, and the roundings by tilted probabilities. Without -bound\n"+
		"it takes the bounds that hold with a probability and are known before the product. A rate after <= is an\n"+
		"upper bound: the errors did not come as far as the bound. It fails if a bound that is to hold fails more\n"+
		"often than it states.\n\n", stderr)
	flags.StringVar(&q.Bounds, "bound", q.Bounds, "try these `bounds`, names of roundoff bound, or all that hold with a probability")
	flags.StringVar(&q.Failures, "failure", q.Failures, "ask for bounds that fail with these `probabilities`, of one output")
	flags.StringVar(&q.Limits, "limit", q.Limits, "in place of bounds try errors beyond these `constants` times |A||B|")
	flags.IntVar(&q.K, "k", q.K, "the `terms` of the sum")
	flags.StringVar(&q.Device, "device", q.Device, "on this `device`, an architecture or a name of roundoff devices")
	flags.StringVar(&q.In, "in", q.In, "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&q.Acc, "acc", q.Acc, "accumulate in this `format`")
	flags.StringVar(&q.Out, "out", q.Out, "store D in this `format`")
	flags.IntVar(&q.SplitK, "split-k", q.SplitK, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", q.Promote, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.StringVar(&q.Order, "order", q.Order, "add in this `order`: sequence, or on FMAs pairs or compensated")
	flags.BoolVar(&q.Stochastic, "stochastic", false, "round stochastically")
	flags.BoolVar(&q.Represented, "represented", false, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.Dist, "dist", q.Dist, "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.Uint64Var(&q.Seed, "seed", q.Seed, "draw with this `seed`")
	flags.IntVar(&q.Runs, "runs", q.Runs, "make this `number` of independent runs, whose spread is the error bar")
	flags.IntVar(&q.Samples, "samples", q.Samples, "let each run have this `number` of outputs at once")
	flags.IntVar(&q.Moves, "moves", q.Moves, "try this `number` of changes of each output at each level")
	flags.BoolVar(&json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return misuse(flags, "%q given, want flags alone", words[0])
	case q.Limits != "" && given(flags, "bound", "failure"):
		return misuse(flags, "-limit goes without -bound and -failure")
	}
	bar := newProgress(stderr, "rare")
	rows, err := q.Results(ctx, bar.set)
	bar.done()
	if err != nil {
		return err
	}
	if json {
		err = writeJSON(stdout, rows)
	} else {
		err = writeRare(stdout, rows)
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Broken {
			return fmt.Errorf("a claimed bound fails: %s fails at a rate of %v, stated is %.3g", r.Bound, r.Estimate, *r.Stated)
		}
	}
	return nil
}

// writeRare writes the rows as a table.
func writeRare(w io.Writer, rows []question.RareRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bound\tholds\tstated\trate\t95 %\trate/stated\toutputs\teffective\tdoubt")
	for _, r := range rows {
		holds, stated, ratio, doubt := "-", "-", "-", r.Doubts
		if r.Stated != nil {
			holds, stated, ratio = yes(r.Holds), fmt.Sprintf("%.3g", *r.Stated), fmt.Sprintf("%.2g", *r.Ratio)
		}
		if doubt == "" {
			doubt = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%v\t%.2g to %.2g\t%s\t%d\t%.0f\t%s\n", r.Bound, holds, stated, r.Estimate, r.Low, r.High, ratio, r.Estimate.Samples, r.Effective, doubt)
	}
	return t.Flush()
}
