package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// predictCommand prints the errors to be expected of sums of random products.
func predictCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var device, in, acc, out, recipe, dist, ks string
	k := bound.Problem{}
	flags := newFlags("predict", "[-flag ...] [A.npy B.npy]\n\n"+
		"Predicts the error of a sum of K products of random numbers, before anything is computed: the mean and\n"+
		"the standard deviation of the relative error, the slope of the error on the exact sum, and mean and\n"+
		"deviation of error / (K E|xy|). It is a prediction, no bound, of the sums alone: A and B are numbers of\n"+
		"their format.\n\n"+
		"With -recipe it predicts the root mean square of the error of a product whose factors are quantised,\n"+
		"over the mean of |A||B|, and its parts: mean, which is a drift, and deviation of what quantisation and\n"+
		"sums lose, and what is lost by scales outside of the device and by storing D. Of matrices in files it\n"+
		"is known what quantisation loses; sums are predicted as if their elements were independent.\n\n", stderr)
	flags.StringVar(&device, "device", "hopper", "on this `device`, an architecture or a name of roundoff devices")
	flags.StringVar(&in, "in", "binary16", "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&acc, "acc", "binary32", "accumulate in this `format`")
	flags.StringVar(&ks, "k", "256,4096,32768", "the `terms` of each sum, one number or more")
	flags.StringVar(&dist, "dist", "U(0,1)", "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.StringVar(&recipe, "recipe", "", "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&out, "out", "binary32", "store D in this `format`, with -recipe")
	flags.IntVar(&k.M, "m", 1024, "the `rows` of A, with -recipe: a scale may be that of all")
	flags.IntVar(&k.N, "n", 1024, "the `columns` of B, with -recipe")
	flags.IntVar(&k.SplitK, "split-k", 1, "add this `number` of parts of K in binary32")
	flags.IntVar(&k.Promote, "promote", 0, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	files := recipe != "" && len(words) == 2 && !given(flags, "dist", "k", "m", "n")
	switch {
	case len(words) > 0 && !files:
		return misuse(flags, "%q given, want flags alone, or two files with -recipe and without -dist, -k, -m and -n", words[0])
	case recipe == "" && given(flags, "m", "n", "out"):
		return misuse(flags, "-m, -n and -out are for -recipe")
	case recipe != "" && given(flags, "in"):
		return misuse(flags, "-recipe goes without -in")
	}
	lengths, err := each(ks, strconv.Atoi)
	if err != nil {
		return misuse(flags, "-k %q, want integers between commas", ks)
	}
	sizes := []size{{"split-k", k.SplitK}, {"m", k.M}, {"n", k.N}}
	for _, n := range lengths {
		sizes = append(sizes, size{"k", n})
	}
	if err := checkSizes(flags, bound.LongestK, sizes...); err != nil {
		return err
	}
	if recipe != "" {
		err = findQuantised(&k, recipe, device, acc, out)
	} else {
		k.M, k.N = 1, 1
		k.Device, err = findDevice(device, in, acc)
	}
	if err != nil {
		return err
	}
	if sumsIntegers(k.Device) {
		return predictIntegers(stdout, k, slices.Max(lengths))
	}
	if k.Device.C.Name != acc {
		return fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", device, acc)
	}
	if err := k.Check(); err != nil {
		return err
	}
	if files {
		return predictFiles(stdout, k, words[0], words[1])
	}
	if k.X, k.Y, err = parseDistributions(dist); err != nil {
		return err
	}
	if recipe != "" {
		return predictQuantised(stdout, k, lengths)
	}
	if err := overflows(k.Device, k.X, k.Y); err != nil {
		return err
	}
	return predictAll(stdout, k, lengths)
}

// predictIntegers says that the errors of a device of integers are zero, or
// returns an error if a sum of that length may wrap.
func predictIntegers(stdout io.Writer, k bound.Problem, length int) error {
	if length > bound.LongestIntegerSum(k.Device) || k.SplitK > 1 || k.Promote > 0 {
		return fmt.Errorf("-k %d -split-k %d -promote %d: %s", length, k.SplitK, k.Promote, exactly(k.Device))
	}
	_, err := fmt.Fprintf(stdout, "%s\n", exactly(k.Device))
	return err
}

// predictAll prints the predictions as a table.
func predictAll(stdout io.Writer, k bound.Problem, lengths []int) error {
	predictions, err := bound.PredictLengths(k, lengths)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s\n", k.Device.Name, sums(k.Machine))
	fmt.Fprintln(w, "K\tmean\tdeviation\tslope\tmean, backward\tdeviation, backward")
	for i, p := range predictions {
		fmt.Fprintf(w, "%d\t%s\t%s\t%.3g\t%.3g\t%.3g\n", lengths[i], number("%.3g", p.Mean), number("%.3g", p.Deviation), p.Slope, p.Backward, p.BackwardDeviation)
	}
	return w.Flush()
}

// findQuantised sets the recipes, the device that takes what they make, and the
// format of D.
func findQuantised(k *bound.Problem, recipe, device, acc, out string) error {
	left, right, err := oneOrTwo(recipe, "recipes", findRecipe)
	if err != nil {
		return err
	}
	k.Represented, k.Recipes = true, &bound.Recipes{A: left, B: right}
	if k.Device, _, err = deviceFor(device, acc, left, right); err != nil {
		return err
	}
	k.Output, err = findFormat(out)
	return err
}

// predictFiles predicts the error of the product of the matrices of two files.
func predictFiles(stdout io.Writer, k bound.Problem, fileA, fileB string) error {
	o, err := readOperands(fileA, fileB)
	if err != nil {
		return err
	}
	k.M, k.N, k.Given = o.a.Rows, o.b.Cols, &bound.Given{A: o.a, B: o.b}
	return predictQuantised(stdout, k, []int{o.a.Cols})
}

// predictQuantised prints the predictions for quantised factors as a table.
func predictQuantised(stdout io.Writer, k bound.Problem, lengths []int) error {
	var errors []bound.TypicalError
	for _, k.K = range lengths {
		e, err := bound.PredictQuantised(k)
		if err != nil {
			return err
		}
		errors = append(errors, e)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s, %s, %v\n", k.Device.Name, sums(k.Machine), k.Recipes)
	fmt.Fprintln(w, "K\terror\tquantisation\tits drift\tsums\ttheir drift\tstoring")
	for i, e := range errors {
		fmt.Fprintf(w, "%d\t%.3g\t%.3g\t%.2g\t%.3g\t%.2g\t%s\n", lengths[i], e.RMS(),
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
