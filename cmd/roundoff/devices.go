package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
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
	all := catalogue()
	for _, word := range words {
		if !hasArchitecture(all, word) {
			return fmt.Errorf("no architecture %q, want one of %s", word, architectures(all))
		}
	}

	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "device\tinstruction\tA, B\tC, D\tscale\tarithmetic\tterms\tbits\trounding\tzero")
	for _, d := range all {
		if len(words) > 0 && !named(d, words) {
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

// catalogue returns all devices, those of integers last.
func catalogue() []tcore.Device { return slices.Concat(devices.All(), devices.Integers()) }

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

// named reports whether the architecture of d is in the list.
func named(d tcore.Device, architectures []string) bool {
	for _, a := range architectures {
		if slug(d.Architecture) == slug(a) {
			return true
		}
	}
	return false
}

func hasArchitecture(all []tcore.Device, name string) bool {
	for _, d := range all {
		if named(d, []string{name}) {
			return true
		}
	}
	return false
}

// architectures returns the architectures of the devices, in the form that
// flags use.
func architectures(all []tcore.Device) string {
	var names []string
	for _, d := range all {
		if n := slug(d.Architecture); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// slug returns a name as typed on a command line: rtxblackwell.
func slug(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, " ", ""))
}
