package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/roundofflab/roundoff/internal/question"
)

// newFlags returns the flags of a command, as in "gpu probe". Its help is the
// given text followed by the flags.
func newFlags(command, help string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("roundoff "+command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: roundoff %s %s", command, help)
		flags.PrintDefaults()
	}
	return flags
}

// A helpText is the help of a command, returned as an error when flags ask for
// it.
type helpText string

func (h helpText) Error() string { return string(h) }

// parse parses args up to the first argument that is not a flag. The error is a
// helpText if args ask for help, and errUsage if they are wrong, which it has
// then reported.
func parse(flags *flag.FlagSet, args []string) error {
	stderr := flags.Output()
	defer flags.SetOutput(stderr)
	var said bytes.Buffer
	flags.SetOutput(&said)
	switch err := flags.Parse(args); {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		return helpText(said.String())
	}
	stderr.Write(said.Bytes())
	return errUsage
}

// parseFlags parses args and returns the words that are not flags. Flags may
// stand before, between and after them. The errors are those of parse.
func parseFlags(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := parse(flags, args); err != nil {
			return nil, err
		}
		args = flags.Args()
		if len(args) == 0 {
			return words, nil
		}
		words, args = append(words, args[0]), args[1:]
	}
}

// misuse prints what is wrong with the arguments of a command, and returns
// errUsage.
func misuse(flags *flag.FlagSet, format string, values ...any) error {
	fmt.Fprintf(flags.Output(), flags.Name()+": "+format+"\n", values...)
	return errUsage
}

// checkSizes returns nil if all sizes are between 1 and most. Otherwise it
// reports the first that is not, and returns errUsage.
func checkSizes(flags *flag.FlagSet, most int, sizes ...question.Size) error {
	if err := question.CheckSizes(most, sizes...); err != nil {
		return misuse(flags, "%v", err)
	}
	return nil
}
