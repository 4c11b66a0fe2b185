package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// predictCommand prints the errors to be expected of sums of random products.
func predictCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var device, in, acc, dist, ks string
	k := bound.Problem{M: 1, N: 1}
	flags := newFlags("predict", "[-flag ...]\n\n"+
		"Predicts the error of a sum of K products of random numbers, before anything is computed: the mean and\n"+
		"the standard deviation of the relative error, the slope of the error on the exact sum, and mean and\n"+
		"deviation of error / (K E|xy|). It is a prediction, no bound, of the sums alone: A and B are numbers of\n"+
		"their format.\n\n", stderr)
	flags.StringVar(&device, "device", "hopper", "on this `device`, an architecture or a name of roundoff devices")
	flags.StringVar(&in, "in", "binary16", "the `format` of A and B, or two, as in e4m3,e5m2")
	flags.StringVar(&acc, "acc", "binary32", "accumulate in this `format`")
	flags.StringVar(&ks, "k", "256,4096,32768", "the `terms` of each sum, one number or more")
	flags.StringVar(&dist, "dist", "U(0,1)", "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.IntVar(&k.SplitK, "split-k", 1, "add this `number` of parts of K in binary32")
	flags.IntVar(&k.Promote, "promote", 0, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return misuse(flags, "%q given, want flags alone", words[0])
	}
	lengths, err := each(ks, strconv.Atoi)
	if err != nil {
		return misuse(flags, "-k %q, want integers between commas", ks)
	}
	sizes := []size{{"split-k", k.SplitK}}
	for _, n := range lengths {
		sizes = append(sizes, size{"k", n})
	}
	if err := checkSizes(flags, bound.LongestK, sizes...); err != nil {
		return err
	}
	if k.Device, err = findDevice(device, in, acc); err != nil {
		return err
	}
	if k.Device.C.Name != acc {
		return fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", device, acc)
	}
	if err := k.Check(); err != nil {
		return err
	}
	if k.X, k.Y, err = parseDistributions(dist); err != nil {
		return err
	}
	if err := overflows(k.Device, k.X, k.Y); err != nil {
		return err
	}
	return predictAll(stdout, k, lengths)
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
