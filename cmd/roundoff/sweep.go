package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
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
	machines, sets, ks, seeds, confidences string
	plans                                  string
	told, o, shard                         string
	join, standard, atlas                  bool // atlas: standard, with the plan of the atlas
	hunt                                   time.Duration
	seed                                   uint64
	sweep.Plan
}

// sweepCommand counts the violations of every bound on emulated machines.
func sweepCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	q := sweepQuestion{Plan: sweep.Plan{Predict: true}}
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
		"Machines: "+names(sweep.Machines(), ", ", func(m tcore.Machine) string { return m.Name })+",\n"+
		"a name of roundoff devices, and any of them with /16 for K in 16 parts, @128 for sums that are promoted every 128 products, or >binary16 for D.\n"+
		"Data: "+names(sweep.Generators(), ", ", func(l sweep.Generator) string { return l.Name })+",\n"+
		"and, of one matrix or with × between of A and of B, U(lo,hi), N(mean,deviation), log-uniform(lo,hi)\n"+
		"for 2^U, laplace(scale), t(degrees), point(x), grid(lo,hi,step), softmax(deviation), ar(correlation),\n"+
		"and, D being such data, sparse(zeros,D), relu(D), signed(D), times(x,D), mix(share,D,D), sorted(D),\n"+
		"outliers(share,factor,D), rows(lo,hi,D) and blocks(lo,hi,D) for vectors and scales of powers of two.\n\n", stderr)
	flags.StringVar(&q.machines, "devices", "paper,volta,ampere,hopper,hopper-e4m3", "compute as these `machines` do")
	flags.StringVar(&q.plans, "plans", "", "and as these `plans` of libraries do, names or texts of roundoff plan with ; between")
	flags.StringVar(&q.sets, "dist", "U(-1,1),U(0,1),U(1,2),N(0,1)", "draw these `kinds` of data")
	flags.IntVar(&q.M, "m", 64, "the `rows` of A")
	flags.IntVar(&q.N, "n", 8, "the `columns` of B")
	flags.StringVar(&q.ks, "k", "256,4096", "the `terms` of each sum")
	flags.StringVar(&q.seeds, "seeds", "1:2", "draw with these `seeds`")
	flags.StringVar(&q.confidences, "confidence", "0.99", "ask for these `probabilities`, of all outputs of a product together")
	flags.BoolVar(&q.PerOutput, "per-output", false, "ask for the probabilities of each output by itself")
	flags.StringVar(&q.told, "told", "distribution", "let the bounds know this of the data: `distribution`, moments, files")
	flags.BoolVar(&q.Ranges, "ranges", true, "test also what bounds say if they know the sizes of the elements")
	flags.BoolVar(&q.Represented, "represented", false, "A and B are rounded to their format first, from finer numbers")
	flags.BoolVar(&q.standard, "standard", false, "sweep every device over data of all kinds, or what of that -devices, -dist and -k name")
	flags.BoolVar(&q.atlas, "atlas", false, "sweep every device as the atlas does, see roundoff help atlas, or what of that -devices, -dist and -k name")
	flags.DurationVar(&q.hunt, "hunt", 0, "look for bounds that fail at random, for this `time`, as in 10m")
	flags.Uint64Var(&q.seed, "seed", 1, "hunt with this `number`")
	flags.StringVar(&q.o, "o", "", "write all into this `file`")
	flags.StringVar(&q.shard, "shard", "", "compute only this `share`, as in 3/16, into the file of -o, or what that lacks")
	flags.BoolVar(&q.join, "join", false, "join the files named")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if q.join != (len(words) > 0) {
		return misuse(flags, "want files with -join, and none without")
	}
	if q.atlas && (q.standard || q.join) {
		return misuse(flags, "-atlas is a plan of its own, want none of -standard and -join with it")
	}
	q.standard = q.standard || q.atlas
	if q.hunt != 0 && (q.join || q.standard || q.o != "") {
		return misuse(flags, "-hunt prints what it finds, want none of -join, -standard and -o with it")
	}
	if given(flags, "shard") && (q.join || q.hunt != 0 || q.o == "") {
		return misuse(flags, "-shard writes the file of -o, want that, and none of -join and -hunt with it")
	}
	if q.atlas && given(flags, "told") {
		return misuse(flags, "-told with -atlas, which has its own")
	}
	for _, name := range []string{"m", "n", "confidence", "per-output", "represented", "ranges"} {
		if q.standard && given(flags, name) {
			return misuse(flags, "-"+name+" with -"+q.named()+", which has its own")
		}
	}
	if err := checkSizes(flags, maxElements, question.Size{Name: "m", Value: q.M}, question.Size{Name: "n", Value: q.N}); err != nil {
		return err
	}
	if q.hunt != 0 {
		return q.search(ctx, stdout, stderr)
	}
	if given(flags, "shard") {
		return q.runShard(ctx, flags, stdout, stderr)
	}
	var file *output
	if q.o != "" {
		if file, err = newOutput(q.o); err != nil {
			return err
		}
		defer file.drop()
	}
	comment := "roundoff sweep " + strings.Join(args, " ")
	if q.atlas {
		if err := q.parts(); err != nil {
			return err
		}
		comment = q.command(flags) + "\nroundoff " + version() // as joined shards have it
	}
	totals := q.standard
	var rows []sweep.Row
	start := time.Now()
	switch {
	case q.join:
		rows, comment, totals, err = joinFiles(words)
	case q.standard:
		rows, err = q.all(ctx, flags, stderr)
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
	if q.standard {
		fmt.Fprintf(stdout, "%v\n", time.Since(start).Round(time.Second))
	}
	if totals {
		return digest(stdout, rows)
	}
	return summarize(stdout, rows)
}

// run runs the plan that the flags describe, after printing its size.
func (q *sweepQuestion) run(ctx context.Context, stderr io.Writer) ([]sweep.Row, error) {
	if err := q.parts(); err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "%d machines, %d kinds of data, %d × K × %d, K = %s, seeds %s, %d bounds\n",
		len(q.Machines), len(q.Data), q.M, q.N, q.ks, sweep.FormatSeeds(q.Seeds), len(bound.Catalogue()))
	bar := newProgress(stderr, "sweep")
	defer bar.done()
	return q.Plan.Run(ctx, bar.set)
}

// list returns the plans of the flags.
func (q *sweepQuestion) list(flags *flag.FlagSet) ([]sweep.Plan, error) {
	if q.standard {
		return q.standardPlans(flags)
	}
	if err := q.parts(); err != nil {
		return nil, err
	}
	return []sweep.Plan{q.Plan}, nil
}

// parts fills in the plan from the values of the flags.
func (q *sweepQuestion) parts() (err error) {
	if q.machines != "" || q.plans == "" {
		if q.Machines, err = question.Each(q.machines, sweep.FindMachine); err != nil {
			return err
		}
	}
	for text := range strings.SplitSeq(q.plans, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := findPlan("plans", text, question.PlannedProduct{})
		if err != nil {
			return err
		}
		p.Name = p.String() // by which a case that fails is repeated
		q.Orders = append(q.Orders, p.Plan)
	}
	if q.Data, err = question.Each(q.sets, sweep.FindGenerator); err != nil {
		return err
	}
	if q.Ks, err = question.Each(q.ks, func(word string) (int, error) {
		k, err := strconv.Atoi(word)
		if err != nil || k < 1 {
			return 0, fmt.Errorf("-k %s, want numbers of 1 or more", word)
		}
		return k, question.CheckMatrices(question.MostDrawn, q.M, q.N, k)
	}); err != nil {
		return err
	}
	if q.Confidences, err = question.Each(q.confidences, func(word string) (float64, error) {
		c, err := strconv.ParseFloat(word, 64)
		if err != nil || !(0 < c && c < 1) {
			return 0, fmt.Errorf("-confidence %s, want numbers between 0 and 1", word)
		}
		return c, nil
	}); err != nil {
		return err
	}
	if q.Seeds, err = sweep.ParseSeeds(q.seeds); err != nil {
		return err
	}
	if q.Told, err = question.Each(q.told, sweep.ParseTold); err != nil {
		return err
	}
	return errors.Join(
		once("k", q.Ks, func(k int) string { return strconv.Itoa(k) }),
		once("devices", q.Machines, func(m tcore.Machine) string { return m.Name }),
		once("dist", q.Data, func(l sweep.Generator) string { return l.Name }),
		once("confidence", q.Confidences, func(c float64) string { return fmt.Sprint(c) }))
}

// once returns an error that names the first repeated value of a flag.
func once[T any](name string, values []T, word func(T) string) error {
	seen := map[string]bool{}
	for _, v := range values {
		w := word(v)
		if seen[w] {
			return fmt.Errorf("-%s names %s twice", name, w)
		}
		seen[w] = true
	}
	return nil
}

// names joins the names of a list.
func names[T any](list []T, between string, name func(T) string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = name(x)
	}
	return strings.Join(words, between)
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
		if e.Outputs == 0 {
			fmt.Fprintf(t, "%s\t%s\t%d\t0\t%s\n", e.Machine, e.Data, e.K, e.Why)
			i = j
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.3g\t%.3g\t%.3g", e.Machine, e.Data, e.K, e.Outputs, e.Largest, e.Mean(), e.Spread())
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
