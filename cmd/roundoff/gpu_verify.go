package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/roundofflab/roundoff/pkg/probe"
)

// gpuVerify compares the instructions of the GPU with the emulation for a given
// time.
func gpuVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("gpu verify", "[--seconds s] [--seed n] [--emulate device] [device ...]\n\n"+
		"Computes random dot products on every instruction of the GPU, or those of the devices named,\n"+
		"and in emulation, and counts how often they agree. Of the first disagreement of each it\n"+
		"writes the operands and how the emulation came to its result. Fails if there is one.\n\n", stderr)
	emulate := emulateFlag(flags)
	seconds := flags.Float64("seconds", 60, "time for all instructions together, about")
	seed := flags.Uint64("seed", 1, "of the random operands")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	return verify(ctx, flags, *seconds, *seed, stdout, func(w io.Writer, f func(probe.Unit) error) error {
		return eachUnit(*emulate, words, w, func(u probe.Unit, _ probe.Provenance) error { return f(u) })
	})
}

// verify compares the units for which each calls its last argument with their
// emulation, for the given time in all. It writes how often they agree, and the
// first disagreement of each, and returns an error if there is one.
func verify(ctx context.Context, flags *flag.FlagSet, seconds float64, seed uint64, stdout io.Writer, each func(io.Writer, func(probe.Unit) error) error) error {
	if !(seconds > 0 && seconds < 1e9) {
		return misuse(flags, "seconds = %v, want more than 0", seconds)
	}
	count := 0
	if err := each(io.Discard, func(probe.Unit) error { count++; return nil }); err != nil {
		return err
	}
	limit := time.Duration(seconds * float64(time.Second) / float64(count))
	dots, differ := 0, 0
	err := each(stdout, func(u probe.Unit) error {
		v, err := probe.Verify(ctx, u, u.Device(), limit, seed)
		dots, differ = dots+v.Dots, differ+v.Dots-v.Agreed
		if v.Dots > 0 {
			fmt.Fprintf(stdout, "%s %d of %d agree\n", u.Device().Name, v.Agreed, v.Dots)
		}
		if v.First != nil {
			fmt.Fprintf(stdout, "%s\n", v.First)
		}
		return err
	})
	fmt.Fprintf(stdout, "dots=%d disagreements=%d\n", dots, differ)
	if err == nil && differ > 0 {
		err = fmt.Errorf("%d of %d dot products differ from the emulation", differ, dots)
	}
	return err
}
