package sweep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// A Found is a bound that is to hold and does not, in a trial made as simple as
// could be.
type Found struct {
	Row   // what happened in the trial
	Trial Case
	Again int // trials besides in which the bound failed on machines of the same kind
}

// A Catch is what a hunt came by.
type Catch struct {
	Trials, Skipped int // of which nothing could be judged in so many
	Outputs, Judged int // outputs, and each bound that is to hold and was put to one
	Doubted         int // bounds with a probability that failed once, and not beyond chance when tried again
	Found           []Found
}

// Hunt tries random products for so long, a few at least, or until ctx ends:
// machines, distributions, K, sizes, confidences and ways to tell the bounds of
// the data, which the seed determines one after the other. It calls progress,
// if that is not nil, after every trial. A bound with a probability that fails
// is tried again on fresh seeds, and is found if it fails there more often than
// stated, beyond chance. Bounds that are found once on machines of a kind are
// not looked for there again, but counted.
func Hunt(ctx context.Context, long time.Duration, seed uint64, progress func(Catch)) (Catch, error) {
	const together = 6 // trials of one distribution, which is found out once
	r := newHunter(seed)
	until, stop := context.WithTimeout(ctx, long)
	defer stop()
	var c Catch
	for again := true; again; again = until.Err() == nil {
		data := randomData(r)
		trials, rows, errs := make([]Case, together), make([][]Row, together), make([]error, together)
		for i := range trials {
			trials[i] = randomTrial(r, data)
		}
		parallel.Each(together, func(i int) { rows[i], errs[i] = trials[i].run(ctx) })
		for i, t := range trials {
			if ctx.Err() != nil && errs[i] != nil {
				continue
			}
			if errs[i] != nil {
				return c, fmt.Errorf("%v: %w", t, errs[i])
			}
			c.count(until, t, rows[i])
			if progress != nil {
				progress(c)
			}
		}
	}
	slices.SortStableFunc(c.Found, func(a, b Found) int { return strings.Compare(a.Bound, b.Bound) })
	return c, nil
}

// newHunter returns what trials of a seed are drawn from.
func newHunter(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// count keeps what a trial found.
func (c *Catch) count(ctx context.Context, t Case, rows []Row) {
	c.Trials++
	for _, r := range rows {
		switch {
		case r.Bound == ErrorRow && r.Outputs == 0:
			c.Skipped++
		case r.Bound == ErrorRow:
			c.Outputs += r.Outputs
		case r.Verdict == Holds:
			c.Judged += r.Outputs
		}
	}
	for _, r := range rows {
		if r.Bound != ErrorRow && r.Verdict == Holds && r.Violations > 0 {
			c.doubt(ctx, t, r)
		}
	}
}

// doubt looks again at a bound that failed in a trial.
func (c *Catch) doubt(ctx context.Context, t Case, r Row) {
	for i, f := range c.Found {
		if f.kind() == (Found{r, t, 0}).kind() {
			c.Found[i].Again++
			return
		}
	}
	if !r.Deterministic && !t.failsAgain(ctx, r.Bound) {
		c.Doubted++
		return
	}
	t = t.minimal(ctx, r.Bound, 200)
	rows, err := t.run(context.WithoutCancel(ctx))
	if err != nil {
		return
	}
	for _, z := range Violated(rows, Sure) {
		if z.Bound == r.Bound {
			c.Found = append(c.Found, Found{z, t, 0})
			return
		}
	}
}

// kind returns what bounds have in common that are taken for one find.
func (f Found) kind() string {
	m, _ := FindMachine(f.Trial.Machine)
	return fmt.Sprintf("%s %T %s %s %v", f.Bound, m.Device.Core, m.Device.A.Name, m.Device.C.Name, m.SplitK > 1)
}

// failsAgain reports whether the bound fails on other seeds more often than
// stated, beyond chance, and leaves t with these: a few, and more where it
// fails there and that proves nothing yet.
func (t *Case) failsAgain(ctx context.Context, bound string) bool {
	const few, many = 6, 30
	first := t.Seeds[0]
	for _, n := range []uint64{few, many} {
		t.Seeds = nil
		for i := range n {
			t.Seeds = append(t.Seeds, first+n+i)
		}
		rows, err := t.run(ctx)
		if err != nil {
			return false
		}
		failed := false
		for _, r := range rows {
			failed = failed || r.Bound == bound && r.Verdict == Holds && r.Failed > 0
		}
		if slices.ContainsFunc(Violated(rows, Sure), func(r Row) bool { return r.Bound == bound }) {
			return true
		}
		if !failed {
			return false
		}
	}
	return false
}
