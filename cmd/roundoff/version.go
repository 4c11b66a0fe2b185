package main

import (
	"context"
	"fmt"
	"io"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/internal/reproduce"
	"github.com/roundofflab/roundoff/internal/vector"
)

// versionCommand prints what a report of a fault must say: which program it
// was, and on which machine.
func versionCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("version", "\n\n"+
		"Prints the version of this program, and the machine that it runs on.\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return misuse(flags, "%q given, want no argument", words[0])
	}
	m := reproduce.ThisMachine(".")
	fmt.Fprintf(stdout, "roundoff %s, %s, %s\n", question.Version(), m.Go, m.System)
	fmt.Fprintf(stdout, "%s, %d cores, vector instructions: %v\n", m.CPU, m.Cores, vector.Detect())
	return nil
}
