package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/probe"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// siliconCommands are the subcommands of roundoff silicon.
var siliconCommands = []command{
	{"info", "tell what it has of a processor's and a GPU's instructions, or why not", siliconInfo},
	{"probe", "measure how each instruction adds", siliconProbe},
	{"record", "write test vectors of its results: silicon record DIR", siliconRecord},
	{"verify", "compare it with the emulation", siliconVerify},
}

// siliconCommand runs a subcommand of roundoff silicon.
func siliconCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return subcommand(ctx, "silicon", siliconCommands, "Asks the processor of this machine and, where there is one, its GPU, which roundoff gpu asks alone.\n"+
		"Without any of the instructions it says so and exits with 3.\n", args, stdout, stderr)
}

// processorDevices returns the instructions of processors in the catalogue.
func processorDevices() []tcore.Device {
	return append([]tcore.Device{devices.AMXBF16(), devices.AVX512BF16(), devices.AVX512F16()}, devices.Integers()...)
}

// usable returns those that this processor has and may use.
func usable() []tcore.Device { return append(cpu.Instructions(), cpu.Integers()...) }

// siliconInfo prints the instructions, and for each of a processor whether it
// can be used.
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
	g, gpuErr := probe.OpenGPU(0)
	if gpuErr == nil {
		for _, d := range g.Instructions() {
			fmt.Fprintf(w, "%s\t%s, %s\n", d.Name, d.Instruction, g.Provenance().GPU)
		}
		gpuErr = g.Close()
	} else {
		fmt.Fprintf(w, "GPU\t%v\n", gpuErr)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !errors.Is(gpuErr, gpu.ErrNoGPU) {
		return gpuErr
	}
	if len(usable()) == 0 {
		return missing
	}
	return nil
}

// siliconVerify compares the instructions of the machine with the emulation for
// a given time.
func siliconVerify(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("silicon verify", "[--seconds s | --dots n] [--seed n] [device ...]\n\n"+
		"Computes random dot products on every instruction of the machine, or those of the devices\n"+
		"named, and in emulation, and counts how often they agree. Of the first disagreement of each it\n"+
		"writes the operands and how the emulation came to its result. Fails if there is one.\n\n", stderr)
	e := effortFlags(flags)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	return verify(ctx, flags, e, stdout, eachOfMachine(words))
}

// siliconProbe infers the arithmetic of the instructions of the machine, and
// prints it beside the built-in records.
func siliconProbe(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("silicon probe", "[device ...]\n\n"+
		"Measures by feature tests how every instruction of the machine adds, or those of the devices\n"+
		"named, and writes what it finds beside the built-in record. Fails if they differ.\n\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	return probeAll(ctx, stdout, eachOfMachine(words))
}

// siliconRecord writes test vectors computed by the instructions of the
// machine.
func siliconRecord(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("silicon record", "[--rows n] [--seed n] DIR [device ...]\n\n"+
		"Writes a file DIR/device.tcv.gz of random dot products, specials and subnormals among them, and\n"+
		"the machine's results, for every instruction or those of the devices named. It says how many\n"+
		"differ from the emulation, as roundoff vectors check DIR does.\n\n", stderr)
	return recordAll(ctx, flags, args, stdout, eachOfMachine)
}

// eachOfMachine calls its last argument for the instructions of the processor
// and of the GPU with the given names, or for all that can be used if there are
// none.
func eachOfMachine(names []string) eachOf {
	return func(w io.Writer, f func(probe.Unit, probe.Provenance) error) error {
		if len(names) == 0 {
			err := onProcessor(usable(), f)
			if err == nil {
				err = eachUnit("", nil, w, f)
			}
			if !errors.Is(err, gpu.ErrNoGPU) {
				return err
			}
			if len(usable()) == 0 {
				return onProcessor(processorDevices(), f) // which says why
			}
			return nil
		}
		if _, err := chosen(slices.Concat(processorDevices(), devices.All()), names); err != nil {
			return err
		}
		var processor []tcore.Device
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			i := slices.IndexFunc(processorDevices(), func(d tcore.Device) bool { return d.Name == name })
			if i >= 0 {
				processor = append(processor, processorDevices()[i])
			}
			return i >= 0
		})
		if err := onProcessor(processor, f); err != nil || len(others) == 0 {
			return err
		}
		return eachUnit("", others, w, f)
	}
}

// onProcessor calls f for the instructions of the processor that list holds.
func onProcessor(list []tcore.Device, f func(probe.Unit, probe.Provenance) error) error {
	for _, d := range list {
		u, err := cpu.Open(d)
		if err != nil {
			return err
		}
		if err := f(u, probe.Provenance{Processor: processorName()}); err != nil {
			return err
		}
	}
	return nil
}

// processorName returns the model of the processor as Linux tells it, or its
// architecture.
func processorName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	told := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			told[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	name, ok := told["model name"]
	if !ok {
		return runtime.GOARCH
	}
	return fmt.Sprintf("%s, family %s, model %s, stepping %s", name, told["cpu family"], told["model"], told["stepping"])
}
