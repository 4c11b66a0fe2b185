package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
)

// newFlags returns the flags of a command, as in "gpu probe", whose help is the
// text and then the flags.
func newFlags(command, help string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("roundoff "+command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: roundoff %s %s", command, help)
		flags.PrintDefaults()
	}
	return flags
}

// A helpText is the usage of a command as the error of parsing flags that ask
// for it.
type helpText string

func (h helpText) Error() string { return string(h) }

// parse parses args up to the first word. The error is a helpText when they ask
// for that, and errUsage when flags has said what is wrong.
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

// parseFlags parses args, in which flags may stand before, between and after
// the words it returns. The error is that of parse.
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

// misuse says what is wrong with the arguments of a command, and returns
// errUsage.
func misuse(flags *flag.FlagSet, format string, values ...any) error {
	fmt.Fprintf(flags.Output(), flags.Name()+": "+format+"\n", values...)
	return errUsage
}

// mostTerms is the largest size that bounds are asked for: they compute with
// sizes in binary64.
const mostTerms = 1 << 53

// size is what a flag counts.
type size struct {
	flag  string
	value int
}

// checkSizes says which of the sizes is not between 1 and most, and returns
// errUsage, or nil.
func checkSizes(flags *flag.FlagSet, most int, sizes ...size) error {
	for _, s := range sizes {
		if s.value < 1 || s.value > most {
			return misuse(flags, "-%s %d, want 1 to %d", s.flag, s.value, most)
		}
	}
	return nil
}

// mostDrawn is how many elements matrices may have that are drawn and judged,
// which then take a gigabyte.
const mostDrawn = 40_000_000

// checkMatrices returns an error if A, B and four times D of a product, of
// which most is kept, have more elements than most together, or a size is below
// 1.
func checkMatrices(most, m, n, k int) error {
	M, N, K := float64(m), float64(n), float64(k)
	if min(m, n, k) < 1 || M*K+K*N+4*M*N > float64(most) {
		return fmt.Errorf("A is %d × %d and B %d × %d, want 1 to %d elements of them and four times their product together", m, k, k, n, most)
	}
	return nil
}
