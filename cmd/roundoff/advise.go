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

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An adviceQuestion contains the arguments of roundoff advise.
type adviceQuestion struct {
	bound.Problem
	tolerance                         float64
	device, in, out, confidence, dist string
	recipe                            string
	permute                           uint64
	json                              bool
	operands                          *operands // nil if no files are given
}

// adviseCommand prints which devices and formats meet a tolerance, by which
// bound, and at what cost.
func adviseCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	q := adviceQuestion{}
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
	flags.Float64Var(&q.tolerance, "tolerance", 0, "want an error of at most this `number` times |A||B|")
	flags.IntVar(&q.M, "m", 1, "the `rows` of A")
	flags.IntVar(&q.N, "n", 1, "the `columns` of B")
	flags.IntVar(&q.K, "k", 1024, "the `terms` of each sum")
	flags.StringVar(&q.device, "device", "", "advise on these `devices`, architectures or names of roundoff devices; all if none is named")
	flags.StringVar(&q.in, "in", "", "advise on devices that take these `formats`; all if none is named")
	flags.StringVar(&q.out, "out", "", "store D in this `format`, not in what the device accumulates in")
	flags.IntVar(&q.SplitK, "split-k", 1, "add this `number` of parts of K in binary32")
	flags.IntVar(&q.Promote, "promote", 0, "add the sums of this `number` of products in binary32; 128 in many libraries for fp8")
	flags.BoolVar(&q.Represented, "represented", true, "A and B are rounded to their format first, from finer numbers")
	flags.StringVar(&q.recipe, "recipe", "", "A and B are quantised first by this `recipe` of roundoff quantise, or two, A,B")
	flags.StringVar(&q.confidence, "confidence", "0.99", "want this `probability` for all outputs together, as in 0.99 or 1-1e-400")
	flags.StringVar(&q.dist, "dist", "", "the `distribution` of the data, U(lo,hi) or N(mean,deviation), or two, of A and of B")
	flags.Uint64Var(&q.permute, "permute", 0, "permute K of the matrices at random with this `seed` first")
	flags.BoolVar(&q.json, "json", false, "write JSON")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if !(q.tolerance > 0) || math.IsInf(q.tolerance, 1) {
		return misuse(flags, "-tolerance %v, want a number above 0", q.tolerance)
	}
	if err := checkSizes(flags, mostTerms, size{"m", q.M}, size{"n", q.N}, size{"k", q.K}, size{"split-k", q.SplitK}); err != nil {
		return err
	}
	if len(words) != 0 && (len(words) != 2 || q.dist != "" || given(flags, "m", "n", "k")) {
		return misuse(flags, "want no file, or two and none of -m, -n, -k and -dist")
	}
	if len(words) == 0 && given(flags, "permute") {
		return misuse(flags, "want two files for -permute")
	}
	if q.recipe != "" && given(flags, "represented") {
		return misuse(flags, "-recipe goes without -represented")
	}
	f, err := roundoff.ParseConfidence(q.confidence)
	if err != nil {
		return err
	}
	found, err := q.describe()
	if err != nil {
		return err
	}
	if len(words) == 2 {
		if q.operands, err = readOperands(words[0], words[1]); err != nil {
			return err
		}
		if given(flags, "permute") {
			q.operands.permute(q.permute)
		}
		if err := q.operands.describe(&q.Problem); err != nil {
			return err
		}
	}
	for _, d := range found {
		if err := (tcore.Machine{Device: d, SplitK: q.SplitK, Promote: q.Promote}).Check(); err != nil {
			return err
		}
	}
	advice, err := bound.Advise(q.Problem, q.tolerance, f, found)
	if err != nil {
		return err
	}
	return q.write(stdout, advice)
}

// describe fills in the problem from the values of the flags, and returns the
// devices asked for.
func (q *adviceQuestion) describe() (found []tcore.Device, err error) {
	if q.out != "" {
		if q.Output, err = findFormat(q.out); err != nil {
			return nil, err
		}
	}
	if q.dist != "" {
		if q.X, q.Y, err = parseDistributions(q.dist); err != nil {
			return nil, err
		}
	}
	if q.recipe != "" {
		left, right, err := oneOrTwo(q.recipe, "recipes", findRecipe)
		if err != nil {
			return nil, err
		}
		q.Recipes = &bound.Recipes{A: left, B: right}
	}
	return findDevices(q.device, q.in)
}

// findDevices returns the devices of names or architectures that take formats,
// each a list with commas; all if none is named.
func findDevices(device, in string) (found []tcore.Device, err error) {
	names, formats := words(device), words(in)
	for _, name := range formats {
		if _, err := findFactor(name); err != nil {
			return nil, err
		}
	}
	all := catalogue()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(d tcore.Device) bool { return d.Name == name || named(d, []string{name}) }) {
			return nil, fmt.Errorf("no device %q, see roundoff devices; architectures are %s", name, architectures(all))
		}
	}
	for _, d := range all {
		if sumsIntegers(d) && !slices.Contains(names, d.Name) && !slices.Contains(formats, d.A.Name) {
			continue // asked for by name, or by format
		}
		if (names == nil || slices.Contains(names, d.Name) || named(d, names)) && (formats == nil || slices.Contains(formats, d.A.Name)) {
			found = append(found, d)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no device of %s takes %s", device, in)
	}
	return found, nil
}

// given reports whether the command line sets one of the flags.
func given(flags *flag.FlagSet, names ...string) bool {
	any := false
	flags.Visit(func(f *flag.Flag) { any = any || slices.Contains(names, f.Name) })
	return any
}

// write writes the advice as a table.
func (q *adviceQuestion) write(w io.Writer, advice []bound.Advice) error {
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
	return q.operands.write(w, q.Data)
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
