package main

import (
	"context"
	"fmt"
	"io"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// search runs [sweep.Hunt] and prints the violations that it finds as commands,
// also when ctx ends it.
func (q *sweepQuestion) search(ctx context.Context, stdout, stderr io.Writer) error {
	if q.hunt < 0 {
		return fmt.Errorf("-hunt %v, want a time that is not negative", q.hunt)
	}
	seen := 0
	c, err := sweep.Hunt(ctx, q.hunt, q.seed, func(c sweep.Catch) {
		for ; seen < len(c.Found); seen++ {
			fmt.Fprintf(stderr, "%s: %v\n", c.Found[seen].Bound, c.Found[seen].Trial)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d trials, %d of them not judged, %d outputs, %d outputs × bounds\n", c.Trials, c.Skipped, c.Outputs, c.Judged)
	if c.Doubted > 0 {
		fmt.Fprintf(stdout, "%d times a bound that holds with a probability failed, as it may\n", c.Doubted)
	}
	for _, f := range c.Found {
		fmt.Fprintf(stdout, "%s %.3g, %d of %d, and %d times more: %v\n", f.Bound, f.Largest, f.Violations, f.Outputs, f.Again, f.Trial)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if n := len(c.Found); n > 0 {
		return fmt.Errorf("%d claimed bounds fail", n)
	}
	return nil
}
