package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/roundofflab/roundoff/pkg/gpu"
)

// gpuCommands are the subcommands of roundoff gpu.
var gpuCommands = []command{
	{"info", "tell device, driver and libraries", gpuInfoCommand},
	{"probe", "measure how each instruction adds", gpuProbe},
	{"record", "write test vectors of its results: gpu record DIR", gpuRecord},
	{"verify", "compare it with the emulation, or with --library its cuBLASLt with plans", gpuVerify},
	{"speed", "time products with every algorithm of cuBLASLt", gpuSpeed},
	{"experiment", "run the paper's experiments on it: gpu experiment DIR", gpuExperiment},
}

// gpuCommand runs a subcommand of roundoff gpu.
func gpuCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	return subcommand(ctx, "gpu", gpuCommands, "The libraries of CUDA are looked for in the folders that ROUNDOFF_CUDA_PATH lists, where the\n"+
		"loader looks, in CUDA_HOME, in the usual folders and in the Python wheels of the environment.\n"+
		"Without a GPU it says so and exits with 3.\n", args, stdout, stderr)
}

// subcommand runs one of the subcommands of a command.
func subcommand(ctx context.Context, name string, list []command, note string, args []string, stdout, stderr io.Writer) error {
	help := "COMMAND [-flag ...]\n\n"
	for _, c := range list {
		help += fmt.Sprintf("  %-11s %s\n", c.name, c.summary)
	}
	flags := newFlags(name, help+"\n"+note, stderr)
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return errUsage
	}
	for _, c := range list {
		if c.name == flags.Arg(0) {
			return c.run(ctx, flags.Args()[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "roundoff %s: unknown command %q\n\n", name, flags.Arg(0))
	flags.Usage()
	return errUsage
}

// gpuInfoCommand prints the device, its driver and its libraries.
func gpuInfoCommand(_ context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := newFlags("gpu info", "\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		return misuse(flags, "unexpected %q", words[0])
	}
	g, err := gpu.Open()
	if err != nil {
		return err
	}
	defer g.Close()
	info, err := g.Info()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "device\t%s\n", info.Name)
	fmt.Fprintf(w, "compute capability\t%s %s\n", info.Capability, info.Architecture)
	fmt.Fprintf(w, "multiprocessors\t%d\n", info.Multiprocessors)
	fmt.Fprintf(w, "memory\t%.1f GiB\n", float64(info.Memory)/(1<<30))
	fmt.Fprintf(w, "driver\tCUDA %s\n", info.Driver)
	for _, l := range info.Libraries {
		if l.Err != nil {
			fmt.Fprintf(w, "%s\t%v\n", l.Name, l.Err)
		} else {
			fmt.Fprintf(w, "%s\t%s in %s\n", l.Name, l.Version, l.Path)
		}
	}
	return w.Flush()
}
