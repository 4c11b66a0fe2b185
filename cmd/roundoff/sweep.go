package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A sweepQuestion contains the arguments of roundoff sweep.
type sweepQuestion struct {
	o, shard      string
	join, partial bool
	hunt          time.Duration
	seed          uint64
	question.Sweep
}

// sweepCommand counts the violations of every bound on emulated machines.
func sweepCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	q := sweepQuestion{Sweep: question.NewSweep()}
	flags := newFlags("sweep", "[-flag ...] [-o FILE.csv]\n       roundoff sweep -join FILE.csv ... [-o FILE.csv]\n"+
		"       roundoff sweep [-flag ...] -shard I/N -o FILE.csv\n\n"+
		"Multiplies random matrices on emulated machines, measures the errors exactly, and counts how\n"+
		"every bound does: outputs above it, how tight it is, how it grows. Prints a summary, and with\n"+
		"-o writes all as CSV. With -join it reads files of different seeds in place of computing.\n"+
		"With -shard it computes the Ith of N shares of that, for one of N computers, into a file that says what\n"+
		"it is of; started again it goes on with that file. -join of all shards is the sweep, whatever N.\n"+
		"It fails if a bound that is claimed for the machine and the data is exceeded more often than stated.\n\n"+
		"With -standard it sweeps every device of roundoff devices over data of all kinds, and with -hunt it\n"+
		"tries products at random for so long. Both print what fails as commands.\n\n"+
		"Machines: "+question.Names(sweep.Machines(), ", ", func(m tcore.Machine) string { return m.Name })+",\n"+
		"a name of roundoff devices, and any of them with /16 for K in 16 parts, @128 for sums that are promoted every 128 products, or >binary16 for D.\n"+
		"Data: "+question.Names(sweep.Generators(), ", ", func(l sweep.Generator) string { return l.Name })+",\n"+
		"and, of one matrix or with × between of A and of B, U(lo,hi), N(mean,deviation), log-uniform(lo,hi)\n"+
		"for 2^U, laplace(scale), t(degrees), point(x), grid(lo,hi,step), softmax(deviation), ar(correlation),\n"+
		"and, D being such data, sparse(zeros,D), relu(D), signed(D), times(x,D), mix(share,D,D), sorted(D),\n"+
		"outliers(share,factor,D), rows(lo,hi,D) and blocks(lo,hi,D) for vectors and scales of powers of two.\n\n", stderr)
	flags.StringVar(&q.Devices, "devices", q.Devices, "compute as these `machines` do")
	flags.StringVar(&q.Plans, "plans", q.Plans, "and as these `plans` of libraries do, names or texts of roundoff plan with ; between")
	flags.StringVar(&q.Recipe, "recipe", q.Recipe, "quantise A and B by these `recipes` of roundoff quantise first, as in int8-row,deepgemm-1x128:deepgemm-128x128")
	flags.StringVar(&q.Dist, "dist", q.Dist, "draw these `kinds` of data")
	flags.IntVar(&q.M, "m", q.M, "the `rows` of A")
	flags.IntVar(&q.N, "n", q.N, "the `columns` of B")
	flags.StringVar(&q.K, "k", q.K, "the `terms` of each sum")
	flags.StringVar(&q.Seeds, "seeds", q.Seeds, "draw with these `seeds`")
	flags.StringVar(&q.Confidence, "confidence", q.Confidence, "ask for these `probabilities`, of all outputs of a product together")
	flags.BoolVar(&q.PerOutput, "per-output", q.PerOutput, "ask for the probabilities of each output by itself")
	flags.StringVar(&q.Told, "told", q.Told, "let the bounds know this of the data: `distribution`, moments, files, matrices")
	flags.BoolVar(&q.Ranges, "ranges", q.Ranges, "test also what bounds say if they know the sizes of the elements")
	flags.BoolVar(&q.Represented, "represented", q.Represented, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.Bounds, "bounds", q.Bounds, "test only these `bounds`; without those that read the sums of a run it is many times faster")
	flags.BoolVar(&q.Standard, "standard", q.Standard, "sweep every device over data of all kinds, or what of that -devices, -dist and -k name")
	flags.BoolVar(&q.Atlas, "atlas", q.Atlas, "sweep every device as the atlas does, see roundoff help atlas, or what of that -devices, -recipe, -dist and -k name")
	flags.DurationVar(&q.hunt, "hunt", 0, "look for bounds that fail at random, for this `time`, as in 10m")
	flags.Uint64Var(&q.seed, "seed", 1, "hunt with this `number`")
	flags.StringVar(&q.o, "o", "", "write all into this `file`")
	flags.StringVar(&q.shard, "shard", "", "compute only this `share`, as in 3/16, into the file of -o, or what that lacks")
	flags.BoolVar(&q.join, "join", false, "join the files named")
	flags.BoolVar(&q.partial, "partial", false, "with -join: join the shards that there are, and say what is missing")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if q.join != (len(words) > 0) {
		return misuse(flags, "want files with -join, and none without")
	}
	if q.partial && !q.join {
		return misuse(flags, "-partial goes with -join")
	}
	if q.join && q.Atlas {
		return misuse(flags, "-atlas is a plan, want none with -join")
	}
	if q.hunt != 0 && (q.join || q.Named() != "" || q.o != "") {
		return misuse(flags, "-hunt prints what it finds, want none of -join, -standard, -atlas and -o with it")
	}
	if given(flags, "shard") && (q.join || q.hunt != 0 || q.o == "") {
		return misuse(flags, "-shard writes the file of -o, want that, and none of -join and -hunt with it")
	}
	q.Given = func(name string) bool { return given(flags, name) }
	if err := q.Check(); err != nil {
		return misuse(flags, "%v", err)
	}
	if q.hunt != 0 {
		return q.search(ctx, stdout, stderr)
	}
	if given(flags, "shard") {
		return q.runShard(ctx, stdout, stderr)
	}
	var file *output
	if q.o != "" {
		if file, err = newOutput(q.o); err != nil {
			return err
		}
		defer file.drop()
	}
	comment := "roundoff sweep " + strings.Join(args, " ")
	if q.Atlas {
		if _, comment, err = q.Results(); err != nil {
			return err
		}
		comment += "\nroundoff " + question.Version() // as joined shards have it
	}
	totals := q.Named() != ""
	var rows []sweep.Row
	start := time.Now()
	switch {
	case q.join:
		rows, comment, totals, err = joinFiles(words, q.partial, stderr)
	case q.Named() != "":
		rows, err = q.all(ctx, stderr)
	default:
		rows, err = q.run(ctx, stderr)
	}
	if err != nil && ctx.Err() != nil && len(rows) > 0 && file != nil {
		fmt.Fprintf(stderr, "roundoff sweep: %s contains the rows so far\n", q.o)
		return errors.Join(err, file.write(func(w io.Writer) error { return sweep.Write(w, comment+" (interrupted)", rows) }))
	}
	if err != nil {
		return err
	}
	if file != nil {
		if err := file.write(func(w io.Writer) error { return sweep.Write(w, comment, rows) }); err != nil {
			return err
		}
	}
	if q.Named() != "" {
		fmt.Fprintf(stdout, "%v\n", time.Since(start).Round(time.Second))
	}
	if totals {
		return digest(stdout, rows)
	}
	return summarize(stdout, rows)
}

// run runs the plan that the flags describe, after printing its size.
func (q *sweepQuestion) run(ctx context.Context, stderr io.Writer) ([]sweep.Row, error) {
	plans, _, err := q.Results()
	if err != nil {
		return nil, err
	}
	p := plans[0]
	units, _ := p.Units() // Results has found the error
	fmt.Fprintf(stderr, "%d machines, %d kinds of data, %d × K × %d, K = %s, seeds %s, %d bounds\n",
		units, len(p.Data), p.M, p.N, q.K, sweep.FormatSeeds(p.Seeds), cmp.Or(len(p.Bounds), len(bound.Catalogue())))
	bar := newProgress(stderr, "sweep")
	defer bar.done()
	return p.Run(ctx, bar.set)
}

// summarize prints the errors and the tightest claimed bound for every machine,
// distribution and K. It returns an error if a claimed bound is violated.
func summarize(w io.Writer, rows []sweep.Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tdata\tK\toutputs\tlargest error\tmean\tspread\ttightest bound\ttau\tmedian\tviolations\texact/product")
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && rows[j].Bound != sweep.ErrorRow {
			j++
		}
		e := rows[i]
		machine := e.Machine
		if e.Recipe != "" {
			machine += ", " + e.Recipe
		}
		if e.Outputs == 0 {
			fmt.Fprintf(t, "%s\t%s\t%d\t0\t%s\n", machine, e.Data, e.K, e.Why)
			i = j
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.3g\t%.3g\t%.3g", machine, e.Data, e.K, e.Outputs, e.Largest, e.Mean(), e.Spread())
		if best, ok := sweep.Tightest(rows[i:j], bound.Trace); ok {
			fmt.Fprintf(t, "\t%s\t%.3g\t%.2g\t%d", best.Bound, best.Tightness, best.Median(), best.Violations)
		} else {
			fmt.Fprint(t, "\t-\t-\t-\t-")
		}
		if e.Product > 0 {
			fmt.Fprintf(t, "\t%.1f\n", e.Exact/e.Product)
		} else {
			fmt.Fprint(t, "\t-\n") // a shard tells no times
		}
		i = j
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := tellSkipped(w, rows); err != nil {
		return err
	}
	return fail(rows)
}

// fail returns an error that names the first violation of a claimed bound, nil
// if there is none.
func fail(rows []sweep.Row) error {
	if bad := sweep.Violated(rows, sweep.Sure); len(bad) > 0 {
		r := bad[0]
		failed, trials := r.Failures()
		return fmt.Errorf("%d claimed bounds fail: %s on %s, %s, K = %d fails %d times of %d, stated is %v",
			len(bad), r.Bound, r.Machine, r.Data, r.K, failed, trials, math.Round(1e9*r.NominalRate())/1e9)
	}
	return nil
}
