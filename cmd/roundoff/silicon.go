package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// siliconCommands are the subcommands of roundoff silicon.
var siliconCommands = []command{
	{"info", "tell which dot products it computes, or why not", siliconInfo},
	{"verify", "compare it with the emulation", siliconVerify},
}

// siliconCommand runs a subcommand of roundoff silicon.
func siliconCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return subcommand(ctx, "silicon", siliconCommands, "Asks the processor of this machine. Without one of the instructions it says so and exits with 3.\n",
		args, stdout, stderr)
}

// processorDevices returns the instructions of processors in the catalogue.
func processorDevices() []tcore.Device {
	return []tcore.Device{devices.AMXBF16(), devices.AVX512BF16()}
}

// siliconInfo prints the instructions, and for each whether it can be used.
func siliconInfo(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("silicon info", "\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return misuse(flags, "unexpected %q", words[0])
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	missing := error(nil)
	for _, d := range processorDevices() {
		u, err := cpu.Open(d)
		if err != nil {
			missing = err
			fmt.Fprintf(w, "%s\t%v\n", d.Name, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%s, %d products at once\n", d.Name, d.Instruction, u.K())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(cpu.Instructions()) == 0 {
		return missing
	}
	return nil
}

// siliconVerify compares the instructions of the processor with the emulation
// for a given time.
func siliconVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("silicon verify", "[--seconds s | --dots n] [--seed n] [device ...]\n\n"+
		"Computes random dot products on every instruction of the processor, or those of the devices\n"+
		"named, and in emulation, and counts how often they agree. Of the first disagreement of each it\n"+
		"writes the operands and how the emulation came to its result. Fails if there is one.\n\n", stderr)
	e := effortFlags(flags)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	return verify(ctx, flags, e, stdout, func(_ io.Writer, f func(probe.Unit) error) error {
		list := cpu.Instructions()
		if len(words) > 0 || len(list) == 0 {
			if list, err = chosen(processorDevices(), words); err != nil {
				return err
			}
		}
		for _, d := range list {
			u, err := cpu.Open(d)
			if err != nil {
				return err
			}
			if err := f(u); err != nil {
				return err
			}
		}
		return nil
	})
}
