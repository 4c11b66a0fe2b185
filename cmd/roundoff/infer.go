package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/foreign"
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/infer"
	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// inferCommand derives the record of a matrix unit from its answers.
func inferCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("infer", "(--command program | --library file | --silicon device | --device device) [--order] [--json] [--seed n]\n\n"+
		"Finds out how an unknown matrix unit adds, by asking it some ten thousand dot products\n"+
		"c + x₀y₀ + … + x₍K₋₁₎y₍K₋₁₎, and prints the record of the device, with the values that are not told\n"+
		"from others, or a question whose answer no record that was tried gives. A --command is split at\n"+
		"spaces and run for each batch of questions. It reads until its input ends, and writes a line for\n"+
		"each line that it reads: K codes of x, K codes of y, and one of c, in hexadecimal and separated\n"+
		"by spaces; it writes the code of the result. Of a shared --library a --function is asked, in a\n"+
		"process of its own: in C, with k codes at x and y,\n\n"+
		"  uint64_t dot(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c);\n\n"+
		"--order finds only in which order terms are added, of sums of any length as well. --serve lets it answer what is read, as a --command does. --silicon is an instruction of this processor,\n"+
		"--device one that is emulated: of its record only the formats and K are used.\n\n", stderr)
	var box struct {
		command, library, function, silicon, device, in, out string
		k                                                    int
		limit                                                time.Duration
		serve                                                bool
	}
	flags.StringVar(&box.command, "command", "", "program that computes dot products")
	flags.StringVar(&box.library, "library", "", "shared library with a function that computes a dot product")
	flags.StringVar(&box.function, "function", "dot", "name of the function of a --library")
	flags.BoolVar(&box.serve, "serve", false, "answer questions for a --library instead of asking them")
	flags.StringVar(&box.silicon, "silicon", "", "device of the catalogue that this processor has")
	flags.StringVar(&box.device, "device", "", "device of the catalogue, emulated")
	flags.StringVar(&box.in, "in", "binary16", "format of the factors of a --command or --library, or two, A's and B's")
	flags.StringVar(&box.out, "out", "binary32", "format of c and the result of a --command or --library")
	flags.IntVar(&box.k, "k", 16, "number of products of a --command or --library")
	flags.DurationVar(&box.limit, "timeout", time.Minute, "time of a --command or --library for one batch of questions")
	order := flags.Bool("order", false, "find the order of the additions, and nothing else")
	asJSON := flags.Bool("json", false, "write JSON")
	seed := flags.Uint64("seed", 1, "of the random operands")
	words, err := parseFlags(flags, args)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return misuse(flags, "unexpected %q", words[0])
	}

	given := 0
	for _, from := range []string{box.command, box.library, box.silicon, box.device} {
		if from != "" {
			given++
		}
	}
	if given != 1 {
		return misuse(flags, "want one of -command, -library, -silicon and -device")
	}
	if box.serve {
		if box.library == "" || box.k < 1 || box.k > 1<<16 {
			return misuse(flags, "want a -library to -serve, and k = %d, want 1 to 65536", box.k)
		}
		dot, err := foreign.Dot(box.library, box.function)
		if err != nil {
			return err
		}
		return serve(dot, box.k, os.Stdin, stdout)
	}
	var b infer.Box
	switch {
	case box.command != "" || box.library != "":
		s, err := question.Infer{In: box.in, Out: box.out, K: box.k}.Shape()
		if err != nil {
			return misuse(flags, "%v", err)
		}
		program := strings.Fields(box.command)
		if box.library != "" {
			if program, err = libraryProgram(box.library, box.function, box.k); err != nil {
				return err
			}
		}
		if len(program) == 0 || box.limit <= 0 {
			return misuse(flags, "-command %q -timeout %v, want a program and time", box.command, box.limit)
		}
		b = infer.Command(s, box.limit, program...)
	case box.silicon != "":
		list, err := chosen(processorDevices(), []string{box.silicon})
		if err != nil {
			return err
		}
		u, err := cpu.Open(list[0])
		if err != nil {
			return err
		}
		b = infer.Of(u)
	default:
		all := question.Catalogue()
		i := slices.IndexFunc(all, func(d tcore.Device) bool { return d.Name == box.device })
		if i < 0 {
			return fmt.Errorf("no device %q, roundoff devices lists them", box.device)
		}
		b = infer.Emulated(all[i], probe.InstructionK(all[i]))
	}
	if *order {
		return ordered(ctx, b, *seed, *asJSON, stdout)
	}
	return inferred(ctx, b, *seed, *asJSON, stdout)
}

// ordered finds the order of the additions of a box and writes it.
func ordered(ctx context.Context, b infer.Box, seed uint64, asJSON bool, stdout io.Writer) error {
	s, err := infer.FindOrder(ctx, b, seed)
	if err != nil {
		return err
	}
	if !asJSON {
		return s.Write(stdout)
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}

// inferred learns a box and writes what it finds. It returns an error if no
// record explains the box.
func inferred(ctx context.Context, b infer.Box, seed uint64, asJSON bool, stdout io.Writer) error {
	l, err := infer.Learn(ctx, b, seed)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(l)
	} else {
		err = l.Write(stdout)
	}
	if err == nil && !l.Explained() {
		err = fmt.Errorf("%d records were tried, and none gives all answers; --order finds in which order terms are added", l.Tried)
	}
	return err
}
