package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// gpuProbe infers the arithmetic of the instructions of the GPU, and prints it
// beside the built-in records.
func gpuProbe(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("gpu probe", "[--emulate device] [device ...]\n\n"+
		"Measures by feature tests how every instruction of the GPU adds, or those of the devices named,\n"+
		"and writes what it finds beside the built-in record. Fails if they differ.\n\n", stderr)
	emulate := emulateFlag(flags)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	return probeAll(ctx, stdout, func(w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
		return eachUnit(*emulate, words, w, f)
	})
}

// eachOf calls its last argument for units. Its first output is the origin of
// the results.
type eachOf = func(io.Writer, func(probe.Unit, probe.Provenance) error) error

// probeAll writes the measured properties of units, and returns an error if any
// differs from the built-in records.
func probeAll(ctx context.Context, stdout io.Writer, each eachOf) error {
	differ := 0
	err := each(stdout, func(u probe.Unit, _ probe.Provenance) error {
		n, err := probeUnit(ctx, u, stdout)
		differ += n
		return err
	})
	if err == nil && differ > 0 {
		err = fmt.Errorf("%d properties differ from the built-in records", differ)
	}
	return err
}

// probeUnit writes the measured properties of one unit, and returns the number
// that differ from the built-in record.
func probeUnit(ctx context.Context, u probe.Unit, w io.Writer) (differ int, err error) {
	d := u.Device()
	measured, err := probe.Infer(ctx, u)
	if err != nil {
		return 0, err
	}
	builtin, err := probe.Infer(ctx, probe.Emulate(d))
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "%s: %s, %s × %s + %s\n", d.Name, d.Instruction, d.A.Name, d.B.Name, d.C.Name)
	differ = measured.Compare(w, builtin)
	if measured.Core == nil {
		fmt.Fprint(w, "No arithmetic known here follows from this.\n\n")
		return differ, nil
	}
	fmt.Fprintf(w, "Inferred: %T%+v\nIt predicts %d of %d random dot products", measured.Core, measured.Core, measured.Agreed, measured.Checked)
	if !measured.Explained() {
		fmt.Fprint(w, ", so that it is not the whole truth")
	}
	fmt.Fprint(w, ".\n\n")
	return differ, nil
}

func emulateFlag(flags *flag.FlagSet) *string {
	return flags.String("emulate", "", "run on the emulation of this `device`, or of all devices of this architecture,\nin place of a GPU")
}

// eachUnit calls f for the units of the GPU or, if emulate is not empty, of the
// emulated device or architecture. It uses only the units with the given names,
// or all if there are none. It skips a unit that the driver cannot compile;
// this is an error if names are given or no unit remains. Its first output is
// the origin of the results.
func eachUnit(emulate string, names []string, w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
	if emulate != "" {
		return eachEmulated(emulate, names, w, f)
	}
	g, err := probe.OpenGPU(0)
	if err != nil {
		return err
	}
	defer g.Close()
	units, err := chosen(g.Instructions(), names)
	if err != nil {
		return err
	}
	from := g.Provenance()
	fmt.Fprintf(w, "%s\n\n", from.GPU)
	var failed error
	ran := false
	for _, d := range units {
		u, err := probe.OnGPU(g, d)
		if err != nil { // the driver may be older than the instruction
			fmt.Fprintf(w, "%s skipped: %v\n", d.Name, err)
			failed = err
			continue
		}
		ran = true
		if err := errors.Join(f(u, from), u.Close()); err != nil {
			return err
		}
	}
	if len(names) > 0 || !ran {
		return failed
	}
	return nil
}

func eachEmulated(emulate string, names []string, w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
	var units []tcore.Device
	for _, d := range devices.All() {
		if d.ScaleBlock == 0 && (d.Name == emulate || question.Slug(d.Architecture) == question.Slug(emulate)) {
			units = append(units, d)
		}
	}
	if len(units) == 0 {
		return fmt.Errorf("no device or architecture %q without scales to emulate; roundoff devices lists them", emulate)
	}
	units, err := chosen(units, names)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Emulated: no GPU is asked, the built-in %s plays it.\n\n", emulate)
	for _, d := range units {
		if err := f(probe.Emulate(d), probe.Provenance{Emulated: d.Name}); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the devices with the given names, or all if there are none. An
// error says that units is empty or that no device has a name.
func chosen(units []tcore.Device, names []string) ([]tcore.Device, error) {
	if len(units) == 0 {
		return nil, errors.New("no instruction of this GPU is known")
	}
	if len(names) == 0 {
		return units, nil
	}
	var known []string
	byName := make(map[string]tcore.Device)
	for _, d := range units {
		known = append(known, d.Name)
		byName[d.Name] = d
	}
	var picked []tcore.Device
	for _, name := range names {
		d, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("no device %q here, want one of %s", name, strings.Join(known, ", "))
		}
		picked = append(picked, d)
	}
	return picked, nil
}
