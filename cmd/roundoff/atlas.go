package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/atlaspage"
	"github.com/roundofflab/roundoff/pkg/atlas"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// atlasCommands are the subcommands of roundoff atlas.
var atlasCommands = []command{
	{"make", "write the data set of a sweep: columns, names, manifest, data sheet and licence", atlasMake},
	{"check", "see that the files of a data set are whole, and belong together", atlasCheck},
	{"show", "tell errors and bounds of devices, data and K", atlasShow},
	{"page", "write a page to look through it, without a server", atlasPage},
}

// atlasCommand runs a subcommand of roundoff atlas.
func atlasCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return subcommand(ctx, "atlas", atlasCommands, "The atlas is a data set of errors and bounds over devices, data and K. Where no folder is given, it is the one\n"+
		"that is part of this program. It comes from a sweep in one process, or from its shards:\n"+
		"  roundoff sweep -atlas -seeds 201:203 -o all.csv\n"+
		"  roundoff sweep -atlas -seeds 201:203 -shard 1/3 -o part-1.csv      and 2/3, 3/3\n"+
		"  roundoff atlas make -o FOLDER all.csv                              or part-1.csv part-2.csv part-3.csv\n", args, stdout, stderr)
}

// atlasMake writes the data set of a sweep.
func atlasMake(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("atlas make", "-o FOLDER FILE.csv ...\n\n"+
		"Writes the data set of the sweep in a file of roundoff sweep -atlas, or of all its shards.\n"+
		"One sweep gives the same files, byte for byte, however it was divided.\n\n", stderr)
	o := flags.String("o", "", "write it into this `folder`, over an atlas that is there")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if *o == "" || len(words) == 0 {
		return misuse(flags, "want -o FOLDER and the files of a sweep")
	}
	rows, comment, _, err := joinFiles(words, false, stderr)
	if err != nil {
		return err
	}
	a, err := atlas.New(rows, comment)
	if err != nil {
		return err
	}
	files, err := a.Pack()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*o, 0o777); err != nil {
		return err
	}
	if err := strangers(*o, files); err != nil {
		return err
	}
	if err := writeAll(*o, files); err != nil {
		return err
	}
	size := 0
	for _, f := range files {
		size += len(f.Data())
	}
	n := a.Count()
	_, err = fmt.Fprintf(stdout, "%s: %s, %d kB\n", *o, countOf(n), size/1000)
	return err
}

// countOf returns what an atlas has, in words.
func countOf(n atlas.Count) string {
	return fmt.Sprintf("%d devices, %d machines, %d cells, %d rows of bounds; %d recipes, %d cells, %d rows of bounds",
		n.Devices, n.Machines, n.Cells, n.Bounds, n.Recipes, n.RecipeCells, n.RecipeBounds)
}

// strangers returns an error if the folder has a file that is not of an atlas.
func strangers(folder string, files []atlas.File) error {
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range there {
		if !slices.ContainsFunc(files, func(a atlas.File) bool { return a.Name == f.Name() }) {
			return fmt.Errorf("-o %s has %s, which is no file of an atlas, want a new folder or one of an atlas", folder, f.Name())
		}
	}
	return nil
}

// writeAll writes all files, or none if one cannot be opened.
func writeAll(folder string, files []atlas.File) error {
	outputs := make([]*output, len(files))
	for i, f := range files {
		var err error
		if outputs[i], err = newOutput(filepath.Join(folder, f.Name)); err != nil {
			return err
		}
		defer outputs[i].drop()
	}
	for i, f := range files {
		if err := outputs[i].write(func(w io.Writer) error {
			_, err := w.Write(f.Data())
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// openAtlas returns the atlas in the folder that is the only word, or the
// recorded one if there is none.
func openAtlas(flags *flag.FlagSet, words []string) (*atlas.Atlas, error) {
	switch len(words) {
	case 0:
		return atlas.Recorded()
	case 1:
		a, err := atlas.Read(os.DirFS(words[0]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", words[0], err)
		}
		return a, nil
	}
	return nil, misuse(flags, "%q given, want one folder", words[1])
}

// atlasCheck compares the files of a data set with its manifest.
func atlasCheck(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("atlas check", "[FOLDER]\n\n"+
		"Sees that the files of a data set have the checksums of its manifest and say what an atlas says. It fails if\n"+
		"one does not, or if a claimed bound fails more often than stated.\n\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	a, err := openAtlas(flags, words)
	if err != nil {
		return err
	}
	n := a.Count()
	for _, f := range a.Files {
		fmt.Fprintf(stdout, "%s  %8d  %s\n", f.SHA256[:16], f.Bytes, f.Name)
	}
	fmt.Fprintf(stdout, "%s\nby %s: %s; %d of these are claimed, %d violated\n", a.Command, a.Version, countOf(n), n.Claimed, n.Violated)
	if n.Violated > 0 {
		return fmt.Errorf("%d claimed bounds fail", n.Violated)
	}
	return nil
}

// atlasShow prints the cells of a query, or all bounds of one.
func atlasShow(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var q atlas.Query
	flags := newFlags("atlas show", "[-flag ...] [FOLDER]\n\n"+
		"Prints the errors of each device, distribution and K, relative to |A||B|, and the tightest bounds that hold, with\n"+
		"tau, the largest error over the bound: those that need no more than the sizes of the elements, from their distribution,\n"+
		"and from a run. Of a single one it prints every bound.\n\n"+
		"With -recipe it prints errors of products whose factors that quantises, against what they were before: of all, of what\n"+
		"quantisation contributes and of what sums do, with the share of the latter in the mean square, and the tightest bounds that\n"+
		"are told the distribution, and the matrices.\n\n", stderr)
	flags.StringVar(&q.Device, "device", "", "only this `device`, or those whose names begin so, as in hopper")
	flags.StringVar(&q.Format, "in", "", "only factors in this `format`")
	flags.StringVar(&q.Recipe, "recipe", "", "products of factors that this `recipe` quantises, all for those of each")
	flags.StringVar(&q.Data, "dist", "", "only this `distribution`")
	flags.IntVar(&q.K, "k", 0, "only sums of this `length`, 0 for all")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	a, err := openAtlas(flags, words)
	if err != nil {
		return err
	}
	if q.Recipe != "" {
		return showRecipes(stdout, a, q)
	}
	cells := a.Select(q)
	if len(cells) == 0 {
		return nothing(a, q)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	if len(cells) == 1 && cells[0].Outputs > 0 {
		showCell(w, a, cells[0])
		return w.Flush()
	}
	fmt.Fprintln(w, "device\tdata\tK\tRMS\tlargest\tof sizes alone\ttau\tof the distribution\ttau\tof a run\ttau\tviolated")
	for _, c := range cells {
		i := slices.IndexFunc(a.Devices, func(d atlas.Device) bool { return d.Machine == c.Machine && q.Matches(d) })
		name := a.Devices[i].Name
		if c.Outputs == 0 {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", name, c.Data, c.K, c.Why)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3g\t%.3g", name, c.Data, c.K, c.RMS(), c.Largest)
		for _, knows := range []bound.Knowledge{bound.Nothing, bound.Moments, bound.Trace} {
			if best, ok := c.Tightest(knows); ok {
				fmt.Fprintf(w, "\t%s\t%.2g", best.Name, best.Tightness)
			} else {
				fmt.Fprint(w, "\t-\t-")
			}
		}
		fmt.Fprintf(w, "\t%d\n", len(sweep.Violated(c.Rows(a.Manifest), sweep.Sure)))
	}
	return w.Flush()
}

// showRecipes prints the cells of a query for recipes, or all bounds of one.
func showRecipes(stdout io.Writer, a *atlas.Atlas, q atlas.Query) error {
	asked := q
	if q.Recipe == "all" {
		asked.Recipe = ""
	}
	cells := a.SelectRecipes(asked)
	if len(cells) == 0 {
		return nothing(a, q)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	if len(cells) == 1 && cells[0].Outputs > 0 {
		showRecipe(w, cells[0])
		return w.Flush()
	}
	fmt.Fprintln(w, "machine\trecipe\tdata\tK\tRMS\tlargest\tquantised\taccumulated\tshare\tof the distribution\ttau\tof the matrices\ttau\tviolated")
	for _, c := range cells {
		if c.Outputs == 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", c.Machine, c.Recipe, c.Data, c.K, c.Why)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.3g\t%.3g\t%.3g\t%.3g\t%.2g", c.Machine, c.Recipe, c.Data, c.K, c.RMS(), c.Largest, c.Quantised.RMS(), c.Accumulated.RMS(), c.Share())
		for _, told := range []sweep.Told{sweep.FromDistribution, sweep.FromMatrices} {
			if best, ok := c.Tightest(told); ok {
				fmt.Fprintf(w, "\t%s\t%.2g", best.Name, best.Tightness)
			} else {
				fmt.Fprint(w, "\t-\t-")
			}
		}
		fmt.Fprintf(w, "\t%d\n", len(sweep.Violated(c.Rows(a.Manifest), sweep.Sure)))
	}
	return w.Flush()
}

// showRecipe prints all that there is of a cell with a recipe.
func showRecipe(w io.Writer, c atlas.RecipeCell) {
	fmt.Fprintf(w, "%s, %s, %s, K = %d: %d products, %d outputs; e/|A||B|: mean %.3g, spread %.3g, largest %.3g, median %.2g\n",
		c.Machine, c.Recipe, c.Data, c.K, c.Runs, c.Outputs, c.Mean, c.Spread, c.Largest, c.Median)
	for _, p := range []struct {
		name string
		atlas.Part
	}{{"quantised", c.Quantised}, {"accumulated", c.Accumulated}} {
		fmt.Fprintf(w, "%s: mean %.3g, spread %.3g, largest %.3g\n", p.name, p.Mean, p.Spread, p.Largest)
	}
	fmt.Fprintln(w, "bound\ttold\tholds\tbound/|A||B|\tof it for quantisation\ttau\tlargest error/bound\tviolations")
	for _, b := range c.Bounds {
		fmt.Fprintf(w, "%s\t%v\t%s\t%.3g\t%.3g\t%.3g\t%.3g\t%d of %d\n", b.Name, b.Told, holds[b.Verdict], b.Constant, b.Conversion, b.Tightness, b.Largest, b.Violations, b.Outputs)
	}
}

// holds says whether a bound is claimed.
var holds = map[sweep.Verdict]string{sweep.Holds: "yes", sweep.NotMachine: "not on this machine", sweep.NotData: "not for these data"}

// showCell prints all that there is of a cell.
func showCell(w io.Writer, a *atlas.Atlas, c atlas.Cell) {
	var same []string
	for _, d := range a.Devices {
		if d.Machine == c.Machine {
			same = append(same, d.Name)
		}
	}
	fmt.Fprintf(w, "%s, %s, K = %d: %d products, %d outputs; e/|A||B|: mean %.3g, spread %.3g, largest %.3g, median %.2g\n",
		strings.Join(same, ", "), c.Data, c.K, c.Runs, c.Outputs, c.Mean, c.Spread, c.Largest, c.Median)
	fmt.Fprintln(w, "bound\tneeds\tholds\tbound/|A||B|\ttau\tlargest error/bound\tviolations")
	for _, b := range c.Bounds {
		of, _ := bound.Find(b.Name)
		needs := of.Needs.String()
		if b.Ranges {
			needs += ", sizes"
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%.3g\t%.3g\t%.3g\t%d of %d\n", b.Name, needs, holds[b.Verdict], b.Constant, b.Tightness, b.Largest, b.Violations, b.Outputs)
	}
}

// nothing returns the error that says what of a query is not in the atlas.
func nothing(a *atlas.Atlas, q atlas.Query) error {
	var names, formats []string
	for _, d := range a.Devices {
		names = append(names, strings.SplitN(d.Name, "-", 2)[0])
		formats = append(formats, d.Factors)
	}
	compact := func(list []string) string {
		slices.Sort(list)
		return strings.Join(slices.Compact(list), ", ")
	}
	ks, there := a.Ks(), func(q atlas.Query) bool { return len(a.Select(q)) > 0 }
	if q.Recipe != "" {
		ks, there = a.RecipeKs(), func(q atlas.Query) bool { return len(a.SelectRecipes(q)) > 0 }
		formats = append(formats, sweep.Integers.Device.A.Name)
	}
	if q.Recipe == "all" {
		q.Recipe = ""
	}
	for _, f := range []struct {
		flag, value string
		alone       atlas.Query
		want        string
	}{
		{"recipe", q.Recipe, atlas.Query{Recipe: q.Recipe}, strings.Join(a.RecipeNames(), ", ") + ", or all"},
		{"device", q.Device, atlas.Query{Device: q.Device}, compact(names) + ", or a name of roundoff devices"},
		{"in", q.Format, atlas.Query{Format: q.Format}, compact(formats)},
		{"dist", q.Data, atlas.Query{Data: q.Data}, strings.Join(a.Data(), ", ")},
		{"k", fmt.Sprint(q.K), atlas.Query{K: q.K}, strings.Trim(fmt.Sprint(ks), "[]")},
	} {
		if !there(f.alone) {
			return fmt.Errorf("-%s %.80s is not in the atlas, want one of %s", f.flag, f.value, f.want)
		}
	}
	return errors.New("the atlas has none of these together")
}

// atlasPage writes a page to look through a data set.
func atlasPage(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("atlas page", "-o FILE.html [FOLDER]\n\n"+
		"Writes a page on which one chooses device, data and K, and sees errors and bounds. It needs no server and no network.\n\n", stderr)
	o := flags.String("o", "", "write it into this `file`")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if *o == "" {
		return misuse(flags, "want -o FILE.html")
	}
	a, err := openAtlas(flags, words)
	if err != nil {
		return err
	}
	page, err := atlaspage.Page(a)
	if err != nil {
		return err
	}
	file, err := newOutput(*o)
	if err != nil {
		return err
	}
	defer file.drop()
	if err := file.write(func(w io.Writer) error {
		_, err := w.Write(page)
		return err
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d kB\n", *o, len(page)/1000)
	return err
}
