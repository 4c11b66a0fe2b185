package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
)

// An adviceQuestion contains the arguments of roundoff advise.
type adviceQuestion struct {
	question.Advice
	permute  uint64
	json     bool
	operands *operands // nil if no files are given
}

// adviseCommand prints which devices and formats meet a tolerance, by which
// bound, and at what cost.
func adviseCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := adviceQuestion{Advice: question.NewAdvice()}
	flags := newFlags("advise", "-tolerance T [-flag ...] [A.npy B.npy]\n\n"+
		"Prints on which devices the product AB is guaranteed to err by at most T |A||B|, by which bound,\n"+
		"up to which K, and what it costs relative to the cheapest: the bytes of A, B and D, and the time\n"+
		"at the peak that vendors publish for dense products, unknown where they do not. Then the devices\n"+
		"that miss T, and how many times it their bound is. What underflow may add to the constant times\n"+
		"|A||B| is in a column, and counts where files tell the least |A||B|. The drift is the part of the\n"+
		"constant that sums lose in the mean, where bits are cut off and the bound tells it apart. Of\n"+
		"matrices in files sizes and moments are taken, and a bound that assumes independent elements is\n"+
		"used where tests on the matrices find nothing against it. For block-scaled devices A and B are\n"+
		"quantised by the recipe of their format, floor scales of MX and NVFP4 of one level, or by -recipe;\n"+
		"a cure may be another one.\n\n", stderr)
	flags.Float64Var(&q.Tolerance, "tolerance", q.Tolerance, "want an error of at most this `number` times |A||B|")
	flags.IntVar(&q.M, "m", q.M, "the `rows` of A")
	flags.IntVar(&q.N, "n", q.N, "the `columns` of B")
	flags.IntVar(&q.K, "k", q.K, "the `terms` of each sum")
	flags.StringVar(&q.Device, "device", q.Device, "advise on these `devices`, architectures or names of roundoff devices; all if none is named")
	flags.StringVar(&q.In, "in", q.In, "advise on devices that take these `formats`; all if none is named")
	flags.StringVar(&q.Out, "out", q.Out, "store D in this `format`, not in what the device accumulates in")
	flags.IntVar(&q.SplitK, "split-k", q.SplitK, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", q.Promote, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.BoolVar(&q.Represented, "represented", q.Represented, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.Recipe, "recipe", q.Recipe, "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&q.Confidence, "confidence", q.Confidence, "want this `probability` for all outputs together, as in 0.99 or 1-1e-400")
	flags.StringVar(&q.Dist, "dist", q.Dist, "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.Uint64Var(&q.permute, "permute", 0, "permute K of the matrices at random with this `seed` first")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if !(q.Tolerance > 0) || math.IsInf(q.Tolerance, 1) {
		return misuse(flags, "-tolerance %v, want a number above 0", q.Tolerance)
	}
	if err := checkSizes(flags, question.MostTerms, question.Size{Name: "m", Value: q.M}, question.Size{Name: "n", Value: q.N}, question.Size{Name: "k", Value: q.K}, question.Size{Name: "split-k", Value: q.SplitK}); err != nil {
		return err
	}
	if len(words) != 0 && (len(words) != 2 || q.Dist != "" || given(flags, "m", "n", "k")) {
		return misuse(flags, "want no file, or two and none of -m, -n, -k and -dist")
	}
	if len(words) == 0 && given(flags, "permute") {
		return misuse(flags, "want two files for -permute")
	}
	if q.Recipe != "" && given(flags, "represented") {
		return misuse(flags, "-recipe goes without -represented")
	}
	if len(words) == 2 {
		if q.operands, err = readOperands(words[0], words[1]); err != nil {
			return err
		}
		q.Operands = q.operands.Operands
		if given(flags, "permute") {
			q.Permute = &q.permute
		}
	}
	advice, tests, err := q.Results()
	if err != nil {
		return err
	}
	return q.write(stdout, advice, tests)
}

// given reports whether the command line sets one of the flags.
func given(flags *flag.FlagSet, names ...string) bool {
	any := false
	flags.Visit(func(f *flag.Flag) { any = any || slices.Contains(names, f.Name) })
	return any
}

// write writes the advice as a table, and what tests of the matrices found, or
// as JSON.
func (q *adviceQuestion) write(w io.Writer, advice []bound.Advice, tests *bound.Inspection) error {
	if q.json {
		return writeJSON(w, advice)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "device\trecipe\tmeets\tconstant\tunderflow\tof tolerance\tmost of it\tdrift\tgood for K\tcure\tbytes\ttime\tTflop/s\tGPU\tbound\tconfidence\twhy")
	for _, a := range advice {
		best := a.Tightest
		name, confidence := best.Bound, best.Confidence.String()
		if !best.Holds {
			name, confidence = "-", "-"
		}
		peak, gpu := "unknown", "-"
		if a.Peak.Tflops > 0 {
			peak, gpu = fmt.Sprint(a.Peak.Tflops), a.Peak.GPU
		}
		recipe := "-"
		if a.Recipes != nil {
			recipe = a.Recipes.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Device.Name, recipe,
			yes(a.Meets()), limit("%.3e", best.Constant), nonzero("%.1e", best.Underflow), limit("%.2g", a.Excess), most(best.Parts), nonzero("%.1e", best.Parts.Drift), lengths(a), cure(a),
			number("%.2f", a.BytesRatio), number("%.2f", a.TimeRatio), peak, gpu, name, confidence, best.Why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := sources(w, advice); err != nil || q.operands == nil {
		return err
	}
	return q.operands.write(w, tests)
}

// nonzero returns x in the format, or a dash if it is 0, NaN or +Inf.
func nonzero(format string, x float64) string {
	if x == 0 || math.IsNaN(x) {
		return "-"
	}
	return limit(format, x)
}

// most returns the largest part of a constant, such as "conversion 93 %".
func most(p bound.Parts) string {
	name, share := p.Largest()
	if name == "" {
		return "-"
	}
	return fmt.Sprintf("%s %.0f %%", name, 100*share)
}

// lengths returns the interval of K as printed, such as "14203 to 32768".
func lengths(a bound.Advice) string {
	switch {
	case a.LargestK == 0:
		return "none"
	case a.LargestK < bound.LongestK:
		return fmt.Sprintf("%d to %d", a.LeastK, a.LargestK)
	}
	return fmt.Sprintf("%d to %d or more", a.LeastK, a.LargestK)
}

// cure returns the flag with which the product meets the tolerance, or two, or
// a dash.
func cure(a bound.Advice) string {
	switch {
	case a.SplitK > 0:
		return fmt.Sprintf("-promote %d or -split-k %d", a.Promote, a.SplitK)
	case a.Promote > 0:
		return fmt.Sprintf("-promote %d", a.Promote)
	case a.Other != nil:
		return fmt.Sprintf("-recipe %v", a.Other)
	}
	return "-"
}

// sources writes the sources of the peaks.
func sources(w io.Writer, advice []bound.Advice) error {
	var seen []string
	for _, a := range advice {
		line := fmt.Sprintf("  %s: %s\n", a.Peak.GPU, a.Peak.Source)
		if a.Peak.Tflops == 0 || slices.Contains(seen, line) {
			continue
		}
		seen = append(seen, line)
	}
	if seen == nil {
		return nil
	}
	_, err := fmt.Fprint(w, "\nTflop/s are dense peaks, from\n"+strings.Join(seen, ""))
	return err
}
