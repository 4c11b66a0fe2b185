package main

import (
	"context"
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
	if !(*seconds > 0 && *seconds < 1e9) {
		return misuse(flags, "seconds = %v, want more than 0", *seconds)
	}
	count := 0
	countOnly := func(probe.Unit, probe.Provenance) error { count++; return nil }
	if err := eachUnit(*emulate, words, io.Discard, countOnly); err != nil {
		return err
	}
	each := time.Duration(*seconds * float64(time.Second) / float64(count))
	dots, differ := 0, 0
	err = eachUnit(*emulate, words, stdout, func(u probe.Unit, _ probe.Provenance) error {
		v, err := probe.Verify(ctx, u, u.Device(), each, *seed)
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
