package main

import (
	"errors"
	"flag"
)

// parseFlags parses args, in which flags may stand before, between and after
// the words it returns. The error is errUsage when flags has said what is wrong.
func parseFlags(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, errUsage
		}
		args = flags.Args()
		if len(args) == 0 {
			return words, nil
		}
		words, args = append(words, args[0]), args[1:]
	}
}
