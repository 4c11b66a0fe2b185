package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// devicesCommand lists the catalogue of devices as a table.
func devicesCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("devices", "[architecture ...]\n\n"+
		"Lists the tensor cores that are emulated, of the architectures named or all: the terms of a\n"+
		"block, the fraction bits kept below its greatest exponent, the rounding of a sum and the\n"+
		"exponent of a zero.\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	all := question.Catalogue()
	for _, word := range words {
		if !question.HasArchitecture(all, word) {
			return fmt.Errorf("no architecture %q, want one of %s", word, question.Architectures(all))
		}
	}

	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "device\tinstruction\tA, B\tC, D\tscale\tarithmetic\tterms\tbits\trounding\tzero")
	for _, d := range all {
		if len(words) > 0 && !question.Named(d, words) {
			continue
		}
		scale := "-"
		if d.ScaleBlock > 0 {
			scale = fmt.Sprintf("%s/%d", d.Scale.Name, d.ScaleBlock)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Instruction, d.A.Name, d.C.Name, scale,
			strings.Join(coreColumns(d), "\t"))
	}
	return w.Flush()
}

// coreColumns returns the columns for the arithmetic, terms, fraction bits,
// rounding and exponent of a zero.
func coreColumns(d tcore.Device) []string {
	terms := func(n int) string { return fmt.Sprint(n) }
	nearest := "ToNearestEven " + d.C.Name
	switch c := d.Core.(type) {
	case tcore.Fused:
		return fusedColumns("fused, truncated", c.Terms, c)
	case tcore.Split:
		return fusedColumns("two fused, then added", 2*c.By.Terms, c.By)
	case tcore.ExactSum:
		return []string{"exact sum", terms(c.Terms), "all", nearest, "-"}
	case tcore.Pairwise:
		return []string{"IEEE, in pairs, flushed", terms(c.Terms), "-", nearest, "-"}
	case tcore.EvenOdd:
		return []string{"two FMA chains, flushed", terms(c.Terms), "-", nearest, "-"}
	case tcore.OddFirst:
		return []string{"FMAs, odd first, flushed", "2", "-", nearest, "-"}
	case tcore.OddPairs:
		return []string{"pairs, flushed", terms(c.Terms), "-", "ToOdd " + d.C.Name, "-"}
	case tcore.FusedPairs:
		return []string{"pairs, fused", terms(c.Terms), "-", nearest, "-"}
	case tcore.TwoStage:
		return []string{"two stages, truncated", terms(c.Terms), "24", nearest, "-"}
	case tcore.WrappedSum:
		return []string{"integers, wrapped", terms(c.Terms), "all", "modulo 2^32", "-"}
	case tcore.TensorCore:
		return []string{"IEEE, Algorithm 1", terms(c.Block), "-", "ToNearestEven " + c.Output.Name, "-"}
	}
	return []string{"IEEE, FMA chain", "1", "-", nearest, "-"}
}

func fusedColumns(arithmetic string, terms int, f tcore.Fused) []string {
	return []string{arithmetic, fmt.Sprint(terms), fmt.Sprint(f.FractionBits),
		f.Rounding.String() + " " + f.Result.Name, fmt.Sprint(f.ZeroExponent)}
}
