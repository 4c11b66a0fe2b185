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

// A Found is a violation of a bound that is claimed, in a case simplified as
// far as possible.
type Found struct {
	Row   // the row of the bound in the case
	Trial Case
	Again int // further cases in which the bound failed on similar machines
}

// A Catch is the result of a hunt.
type Catch struct {
	Trials, Skipped int // cases, and those of them with no output to judge
	Outputs, Judged int // outputs, and pairs of an output and a bound that is claimed for it
	Doubted         int // probabilistic bounds that failed once, and not beyond chance on fresh seeds
	Found           []Found
}

// Hunt tries random cases for the given time, at least a few, or until ctx
// ends. It draws machines, distributions, K, sizes, confidences and
// descriptions of the data ([Told]); the seed determines the sequence of cases.
// It calls progress, unless that is nil, after every case.
//
// A probabilistic bound that fails is tried again on fresh seeds. It counts as
// found if it fails there more often than stated, beyond chance. After a bound
// is found, its further failures on similar machines are only counted. An error
// names a case that could not be run.
func Hunt(ctx context.Context, long time.Duration, seed uint64, progress func(Catch)) (Catch, error) {
	const together = 6 // cases of one distribution, which run in parallel
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

// newHunter returns the random number generator of the cases of a seed.
func newHunter(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// count adds the results of a case.
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

// doubt tests again a bound that failed in a case, and adds the failure if it
// is confirmed.
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

// kind returns a text that is equal for failures that count as one: of the same
// bound on similar machines.
func (f Found) kind() string {
	m, _ := FindMachine(f.Trial.Machine)
	return fmt.Sprintf("%s %T %s %s %v", f.Bound, m.Device.Core, m.Device.A.Name, m.Device.C.Name, m.SplitK > 1)
}

// failsAgain reports whether the bound fails on other seeds more often than
// stated, beyond chance. It tries a few seeds, and more if the bound fails
// there without being violated beyond chance. t.Seeds are then the seeds tried
// last.
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
