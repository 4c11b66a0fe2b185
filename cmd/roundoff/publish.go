package main

import (
	"context"
	"io"
	"strings"

	"github.com/roundofflab/roundoff/internal/reproduce"
	"github.com/roundofflab/roundoff/pkg/cpu"
)

// publishCommand stores in the notebooks what their last run showed, or
// compares, or prints a notebook.
func publishCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	p := reproduce.Publication{Units: unitNames(), Log: stdout}
	flags := newFlags("publish", "[-flag ...]\n\n"+
		"Stores in the notebooks what the last `roundoff reproduce` of all of them showed: text, tables and\n"+
		"pictures without scripts, as a code host displays them.\n\n", stderr)
	flags.StringVar(&p.Out, "out", "out", "take the results from this `folder`")
	flags.StringVar(&p.Notebooks, "notebooks", "notebooks", "store them in the notebooks of this `folder`")
	compare := flags.Bool("compare", false, "store nothing, and fail if the notebooks show something else; times may differ")
	text := flags.String("text", "", "print the notebook in this `file` as text, for git diff")
	words, err := parseFlags(flags, args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return misuse(flags, "unexpected %q", words[0])
	case *text != "":
		return reproduce.PrintNotebook(stdout, *text)
	case *compare:
		return p.Compare()
	}
	return p.Write()
}

// unitNames returns the dot-product instructions of this processor.
func unitNames() (names []string) {
	for _, d := range append(cpu.Instructions(), cpu.Integers()...) {
		names = append(names, strings.ToUpper(d.Instruction))
	}
	return names
}
