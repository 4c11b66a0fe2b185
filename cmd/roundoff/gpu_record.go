package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/roundofflab/roundoff/pkg/probe"
)

// gpuRecord writes test vectors computed by the instructions of the GPU.
func gpuRecord(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("gpu record", "[--rows n] [--seed n] [--emulate device] DIR [device ...]\n\n"+
		"Writes a file DIR/device.tcv.gz of random dot products, specials and subnormals among them, and\n"+
		"the GPU's results, for every instruction or those of the devices named. The header tells where\n"+
		"they come from. It says how many differ from the emulation, as roundoff vectors check DIR does, and\n"+
		"writes no file where most are farther from it than any rounding takes them.\n\n", stderr)
	emulate := emulateFlag(flags)
	return recordAll(ctx, flags, args, stdout, func(names []string) eachOf {
		return func(w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
			return eachUnit(*emulate, names, w, f)
		}
	})
}

// recordAll writes test vectors of the units that of returns for the names in
// args, which follow flags and a folder.
func recordAll(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer, of func(names []string) eachOf) error {
	rows := flags.Int("rows", 1000, "dot products of every instruction")
	seed := flags.Uint64("seed", 1, "of the random operands")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) == 0 || *rows < 1 {
		return misuse(flags, "want a folder and rows >= 1, rows = %d", *rows)
	}
	dir := words[0]
	return of(words[1:])(stdout, func(u probe.Unit, from probe.Provenance) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		from.Seed, from.Date = *seed, time.Now().UTC().Format(time.DateOnly)
		path := filepath.Join(dir, u.Device().Name+".tcv.gz")
		if err := probe.WriteVectors(ctx, path, u, *rows, from); err != nil {
			return err
		}
		found, err := checkFile(path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "%s %d, of which %d differ from the emulation\n", path, *rows, found.Mismatches)
		return err
	})
}
