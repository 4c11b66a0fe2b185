package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/pkg/probe"
)

// gpuVerify compares the instructions of the GPU with the emulation for a given
// time.
func gpuVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("gpu verify", "[--seconds s | --dots n] [--seed n] [--emulate device] [device ...]\n"+
		"       roundoff gpu verify --library [--seconds s | --dots n] [--seed n] [--shapes s] [--algorithms a] [kind ...]\n\n"+
		"Computes random dot products on every instruction of the GPU, or those of the devices named,\n"+
		"and in emulation, and counts how often they agree. Of the first disagreement of each it\n"+
		"writes the operands and how the emulation came to its result. Fails if there is one.\n\n"+
		"With --library it asks cuBLASLt by which algorithms it computes products of many shapes, makes a\n"+
		"plan of the configuration of each, and compares what the library returns with what the plan\n"+
		"computes. It writes a row for each, the first difference, and what has no plan and why; ? marks\n"+
		"plans that nobody has measured. --dots counts outputs. Fails if products differ.\n\n", stderr)
	emulate := emulateFlag(flags)
	e := effortFlags(flags)
	l := newLibraryFlags(flags)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if *l.on {
		if err := e.check(flags); err != nil {
			return err
		}
		if *emulate != "" {
			return misuse(flags, "emulate = %q with library, which asks a GPU alone", *emulate)
		}
		shapes, kinds, err := l.parse(flags, words)
		if err != nil {
			return err
		}
		return verifyLibrary(ctx, e, shapes, kinds, *l.algorithms, stdout)
	}
	if *l.shapes != "" {
		return misuse(flags, "shapes = %q without library", *l.shapes)
	}
	if given(flags, "algorithms") {
		return misuse(flags, "algorithms = %d without library", *l.algorithms)
	}
	return verify(ctx, flags, e, stdout, func(w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
		return eachUnit(*emulate, words, w, f)
	})
}

// effort is how much verify compares, and the seed of the operands.
type effort struct {
	seconds, dots *float64
	seed          *uint64
}

func effortFlags(flags *flag.FlagSet) effort {
	return effort{
		flags.Float64("seconds", 60, "time for all instructions together, about"),
		flags.Float64("dots", 0, "how many of each instruction, in place of a time, as in 1e9"),
		flags.Uint64("seed", 1, "of the random operands"),
	}
}

// check returns errUsage, after reporting it, if a number is out of range.
func (e effort) check(flags *flag.FlagSet) error {
	if !(*e.seconds > 0 && *e.seconds < 1e9) {
		return misuse(flags, "seconds = %v, want more than 0", *e.seconds)
	}
	if !(*e.dots >= 0 && *e.dots <= 1e15) {
		return misuse(flags, "dots = %v, want 0 to 1e15", *e.dots)
	}
	return nil
}

// verify compares the units of each with their emulation. It writes how often
// they agree, and the first disagreement of each, and returns an error if there
// is one.
func verify(ctx context.Context, flags *flag.FlagSet, e effort, stdout io.Writer, each eachOf) error {
	if err := e.check(flags); err != nil {
		return err
	}
	count := 0
	if err := each(io.Discard, func(probe.Unit, probe.Provenance) error { count++; return nil }); err != nil {
		return err
	}
	limit := time.Duration(*e.seconds * float64(time.Second) / float64(count))
	dots, differ := 0, 0
	err := each(stdout, func(u probe.Unit, _ probe.Provenance) error {
		start := time.Now()
		var v probe.Verdict
		var err error
		if *e.dots >= 1 {
			v, err = probe.VerifyDots(ctx, u, u.Device(), int(*e.dots), *e.seed)
		} else {
			v, err = probe.Verify(ctx, u, u.Device(), limit, *e.seed)
		}
		dots, differ = dots+v.Dots, differ+v.Dots-v.Agreed
		if v.Dots > 0 {
			fmt.Fprintf(stdout, "%s %d of %d agree\n", u.Device().Name, v.Agreed, v.Dots)
		}
		if len(v.Regimes) > 0 {
			fmt.Fprintf(stdout, "  seed %d, %.0f s; %s\n", *e.seed, time.Since(start).Seconds(), regimeCounts(v.Regimes))
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

// regimeCounts tells how many dot products were drawn from every regime, and
// how many of their results are NaN.
func regimeCounts(list []probe.RegimeCount) string {
	var s []string
	for _, r := range list {
		part := fmt.Sprintf("%s %d", r.Name, r.Dots)
		if r.NaN > 0 {
			part += fmt.Sprintf(" (%d NaN)", r.NaN)
		}
		s = append(s, part)
	}
	return strings.Join(s, ", ")
}
