package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// predictCommand prints the errors to be expected of sums of random products.
func predictCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := question.NewPrediction()
	var ks string
	flags := newFlags("predict", "[-flag ...] [A.npy B.npy]\n\n"+
		"Predicts the error of a sum of K products of random numbers, before anything is computed: the mean and\n"+
		"the standard deviation of the relative error, the slope of the error on the exact sum, and mean and\n"+
		"deviation of error / (K E|xy|). It is a prediction, no bound, of the sums alone: A and B are numbers of\n"+
		"their format.\n\n"+
		"With -recipe it predicts the root mean square of the error of a product whose factors are quantised,\n"+
		"over the mean of |A||B|, and its parts: mean, which is a drift, and deviation of what quantisation and\n"+
		"sums lose, and what is lost by scales outside of the device and by storing D. Of matrices in files it\n"+
		"is known what quantisation loses; sums are predicted as if their elements were independent.\n\n", stderr)
	flags.StringVar(&q.Device, "device", q.Device, "on this `device`, an architecture or a name of roundoff devices")
	flags.StringVar(&q.In, "in", q.In, "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&q.Acc, "acc", q.Acc, "accumulate in this `format`")
	flags.StringVar(&ks, "k", "256,4096,32768", "the `terms` of each sum, one number or more")
	flags.StringVar(&q.Dist, "dist", q.Dist, "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.StringVar(&q.Recipe, "recipe", q.Recipe, "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&q.Out, "out", q.Out, "store D in this `format`, with -recipe")
	flags.IntVar(&q.M, "m", q.M, "the `rows` of A, with -recipe: a scale may be that of all")
	flags.IntVar(&q.N, "n", q.N, "the `columns` of B, with -recipe")
	flags.IntVar(&q.SplitK, "split-k", q.SplitK, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", q.Promote, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.StringVar(&q.Plan, "plan", "", "of what this `plan` of a library computes: a name or text of roundoff plan, or 'cublaslt-13.1 h100 66,0,1,0,0,0,35';\nwith -m and -n its product")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	files := q.Recipe != "" && len(words) == 2 && !given(flags, "dist", "k", "m", "n")
	switch {
	case len(words) > 0 && !files:
		return misuse(flags, "%q given, want flags alone, or two files with -recipe and without -dist, -k, -m and -n", words[0])
	case q.Plan != "" && given(flags, "device", "acc", "out", "recipe", "split-k", "promote"):
		return misuse(flags, "-plan goes without -device, -acc, -out, -recipe, -split-k and -promote")
	case q.Recipe == "" && q.Plan == "" && given(flags, "m", "n", "out"):
		return misuse(flags, "-m, -n and -out are for -recipe")
	case q.Recipe != "" && given(flags, "in"):
		return misuse(flags, "-recipe goes without -in")
	}
	if q.Ks, err = question.Each(ks, strconv.Atoi); err != nil {
		return misuse(flags, "-k %q, want integers between commas", ks)
	}
	if err := q.Check(); err != nil {
		return misuse(flags, "%v", err)
	}
	if files {
		o, err := readOperands(words[0], words[1])
		if err != nil {
			return err
		}
		q.Operands = o.Operands
	}
	p, err := q.Results()
	switch {
	case err != nil:
		return err
	case question.SumsIntegers(p.Problem.Device):
		_, err := fmt.Fprintf(stdout, "%s\n", question.Exactly(p.Problem.Device))
		return err
	case q.Recipe != "":
		return predictQuantised(stdout, p)
	}
	return predictAll(stdout, p)
}

// predictAll prints the predictions as a table.
func predictAll(stdout io.Writer, p question.Predicted) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	how := p.Problem.Device.Name + ", " + sums(p.Problem.Machine)
	if z, planned := p.Problem.Plan(); planned {
		how = z.Name
	}
	fmt.Fprintln(w, how)
	fmt.Fprintln(w, "K\tmean\tdeviation\tslope\tmean, backward\tdeviation, backward")
	for i, e := range p.Sums {
		fmt.Fprintf(w, "%d\t%s\t%s\t%.3g\t%.3g\t%.3g\n", p.Ks[i], number("%.3g", e.Mean), number("%.3g", e.Deviation), e.Slope, e.Backward, e.BackwardDeviation)
	}
	return w.Flush()
}

// predictQuantised prints the predictions for quantised factors as a table.
func predictQuantised(stdout io.Writer, p question.Predicted) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s, %v\n", p.Problem.Device.Name, sums(p.Problem.Machine), p.Problem.Recipes)
	fmt.Fprintln(w, "K\terror\tquantisation\tits drift\tsums\ttheir drift\tstoring")
	for i, e := range p.Quantised {
		fmt.Fprintf(w, "%d\t%.3g\t%.3g\t%.2g\t%.3g\t%.2g\t%s\n", p.Ks[i], e.RMS(),
			e.Quantisation.Deviation, e.Quantisation.Drift, e.Accumulation.Deviation, e.Accumulation.Drift, nonzero("%.3g", e.Storing))
	}
	return w.Flush()
}

// sums says how a machine cuts its sums.
func sums(m tcore.Machine) string {
	switch {
	case m.Promote > 0:
		return fmt.Sprintf("promoted every %d products", m.Promote)
	case m.SplitK > 1:
		return fmt.Sprintf("K in %d parts", m.SplitK)
	}
	return "K in one sum"
}
