package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// quantiseCommand quantises a matrix as a library does, or lists the recipes.
func quantiseCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	var recipe, side, codes, scales, values string
	var random int
	var seed uint64
	flags := newFlags("quantise", "[-recipe name [-flag ...] X.npy]\n\n"+
		"Quantises a matrix of float16, float32 or float64, which it rounds to binary32 first, as a\n"+
		"library does, bit for bit, and tells what is lost; without a recipe, lists the recipes. Codes\n"+
		"are written as one byte each: .view(ml_dtypes.float8_e4m3fn) gives them their type in NumPy.\n"+
		"The scales of recipes that store inverse ones are the inverse ones.\n\n", stderr)
	flags.StringVar(&recipe, "recipe", "", "quantise by this recipe, a `name` of the list")
	flags.StringVar(&side, "side", "a", "blocks lie along the rows of `a`, the left factor, or the columns of b")
	flags.StringVar(&codes, "codes", "", "write the codes into this `file`")
	flags.StringVar(&scales, "scales", "", "write the scales into this `file`, and that of the tensor as the last row, if there is one")
	flags.StringVar(&values, "values", "", "write the numbers that codes and scales stand for into this `file`")
	flags.IntVar(&random, "stochastic", 0, "round stochastically with this `number` of random bits (8 in hardware)")
	flags.Uint64Var(&seed, "seed", 1, "the `seed` of random bits")
	words, err := parseFlags(flags, args)
	switch {
	case err != nil:
		return err
	case recipe == "" && len(words) == 0:
		return listRecipes(stdout)
	case len(words) != 1:
		return misuse(flags, "want one file")
	case side != "a" && side != "b":
		return misuse(flags, "-side %q, want a or b", side)
	case random < 0 || random > 32:
		return misuse(flags, "-stochastic %d, want 0 to 32", random)
	}
	r, err := question.FindRecipe(recipe)
	if err != nil {
		return err
	}
	r.Stochastic = tcore.Stochastic{Seed: seed, Bits: random}
	x, err := readMatrix(words[0], tcore.Binary32, tcore.ToNearestEven)
	if err != nil {
		return err
	}
	q, err := r.Quantise(x, map[string]quant.Side{"a": quant.Left, "b": quant.Right}[side])
	if err != nil {
		return err
	}
	if err := writeQuantised(q, codes, scales, values); err != nil {
		return err
	}
	return describeQuantised(stdout, words[0], q, q.Loss(x))
}

// listRecipes prints the catalogue of recipes as a table.
func listRecipes(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "recipe\telements\tscale\tblock\tsource")
	for _, r := range quant.Recipes() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%s\n", r.Name, r.Element.Name, r.Scale.Stored.Name, r.Block, r.Source)
	}
	return w.Flush()
}

// writeQuantised writes the files that have a name, none if one cannot be
// opened.
func writeQuantised(q *quant.Quantised, codes, scales, values string) error {
	var files []*output
	var writes []func(w io.Writer) error
	for _, f := range []struct {
		path  string
		write func(w io.Writer) error
	}{
		{codes, func(w io.Writer) error { return writeCodes(w, q) }},
		{scales, func(w io.Writer) error { return writeMatrix(w, scaleRows(q)) }},
		{values, func(w io.Writer) error { return writeMatrix(w, q.Dequantise()) }},
	} {
		if f.path == "" {
			continue
		}
		file, err := newOutput(f.path)
		if err != nil {
			return err
		}
		defer file.drop()
		files, writes = append(files, file), append(writes, f.write)
	}
	for i, file := range files {
		if err := file.write(writes[i]); err != nil {
			return err
		}
	}
	return nil
}

// scaleRows returns the scales of blocks as they lie in the matrix, and below
// them a row of that of the tensor, if there is one.
func scaleRows(q *quant.Quantised) blas32.General {
	down, across := q.Blocks()
	z := blas32.General{Rows: down, Cols: across, Stride: across, Data: q.Scales}
	if q.Recipe.Tensor != nil {
		z.Rows++
		z.Data = append([]float32(nil), q.Scales...)
		for range across {
			z.Data = append(z.Data, q.Tensor)
		}
	}
	return z
}

// describeQuantised prints what became of a matrix.
func describeQuantised(stdout io.Writer, path string, q *quant.Quantised, l quant.Loss) error {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, s := range q.Scales {
		least, greatest = min(least, float64(s)), max(greatest, float64(s))
	}
	n := float64(len(q.Codes))
	_, err := fmt.Fprintf(stdout, "%s, %d × %d as %v by %s (%s)\n"+
		"%d scales of %s for %v, from %.4g to %.4g\n"+
		"relative error %.3g, drift of magnitudes %+.2g, clipped %.3g %%, flushed to zero %.3g %%, NaN %.3g %%\n",
		path, q.Rows, q.Cols, q.Side, q.Recipe.Name, q.Recipe.Source,
		len(q.Scales), q.Recipe.Scale.Stored.Name, q.Recipe.Block, least, greatest,
		l.RMS, l.Drift, 100*float64(l.Clipped)/n, 100*float64(l.Flushed)/n, 100*float64(l.NaN)/n)
	return err
}
