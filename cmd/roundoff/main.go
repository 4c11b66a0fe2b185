// Roundoff is the command-line tool of this module.
//
//	roundoff reproduce        run the notebooks, write figures, tables and claims, and a page of them
//	roundoff publish          store in the notebooks what they showed, without scripts
//	roundoff devices          list the tensor cores that are emulated
//	roundoff gemm             multiply matrices of NumPy files as a tensor core does
//	roundoff quantise         quantise a matrix of a NumPy file as a library does
//	roundoff trace            show how an element of a product is summed, and what is cut off
//	roundoff plan list        list plans, in which libraries add products
//	roundoff plan explain     tell in words, or draw, how a plan adds K products
//	roundoff plan diff        tell where two plans part, and an input whose result differs
//	roundoff audit            tell what quantisation does to the products of a trained network
//	roundoff bound            bound the error of a matrix product, by every bound of the catalogue
//	roundoff tolerance        tell by how much outputs may differ, which do, and why; constants for C
//	roundoff quantisation     bound what quantisation does to a matrix product, by every bound there is
//	roundoff predict          tell the error to be expected of sums of random products
//	roundoff sweep            count the violations of every bound on emulated machines
//	roundoff rare             estimate how often bounds fail that fail too rarely to be counted
//	roundoff atlas make       write a sweep as a data set: columns, manifest, data sheet, licence
//	roundoff atlas check      see that such a data set is whole
//	roundoff atlas show       tell errors and bounds of devices, data and K from it
//	roundoff atlas page       write a page to look through it
//	roundoff advise           list the devices and formats that meet a tolerance, and their costs
//	roundoff vectors          compare the emulation with test vectors
//	roundoff infer            find out how an unknown matrix unit adds, by asking it
//	roundoff silicon info     print the dot products of processor and GPU
//	roundoff silicon probe    measure the arithmetic of each of their instructions
//	roundoff silicon record   write test vectors computed by them
//	roundoff silicon verify   compare them with the emulation
//	roundoff gpu info         print the GPU, its driver and libraries
//	roundoff gpu probe        measure the arithmetic of each instruction of the GPU
//	roundoff gpu record       write test vectors computed by the GPU
//	roundoff gpu verify       compare the GPU with the emulation, or with -library its cuBLASLt with plans
//	roundoff gpu speed        time products with every algorithm of cuBLASLt
//	roundoff gpu experiment   run the paper's experiments on the GPU
//	roundoff version          print the version of this program, and the machine
//	roundoff help             list the commands, or the flags of one: help gpu speed
//
// The exit status is 0 for success, 1 for a failure, 2 for wrong arguments, and
// 3 if a command needs a GPU, or an instruction of the processor, and there is
// none. A first SIGINT (Ctrl-C),
// SIGTERM or SIGHUP ends the command with status 128 plus the number of the
// signal; a second one kills it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/gpu"
)

// A command is one command of the tool. Run returns errUsage after reporting
// wrong arguments, and any other error for a failure.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// graces are the times that interrupted commands have to finish what they have
// begun: the kernels of notebooks, or a file of the results so far. Other
// commands have a second.
var graces = map[string]time.Duration{"reproduce": 20 * time.Second, "sweep": 5 * time.Second}

var commands = []command{
	{"reproduce", "run the notebooks, write figures, tables and claims, and a page of them", reproduceCommand},
	{"publish", "store in the notebooks what they showed, without scripts", publishCommand},
	{"devices", "list the tensor cores that are emulated", devicesCommand},
	{"gemm", "multiply matrices of NumPy files as a tensor core does", gemmCommand},
	{"quantise", "quantise a matrix of a NumPy file as a library does, or list the recipes", quantiseCommand},
	{"trace", "show how an element of a product is summed, and what is cut off", traceCommand},
	{"plan", "tell in which order a library adds products, and what that does", planCommand},
	{"audit", "tell what quantisation does to the products of a trained network", auditCommand},
	{"bound", "bound the error of a matrix product, by every bound there is", boundCommand},
	{"tolerance", "tell by how much outputs may differ, which do, and why", toleranceCommand},
	{"quantisation", "bound what quantisation does to a matrix product, by every bound there is", quantisationCommand},
	{"predict", "tell the error to be expected of sums of random products", predictCommand},
	{"sweep", "count how every bound does on emulated machines", sweepCommand},
	{"rare", "estimate how often bounds fail that fail too rarely to be counted", rareCommand},
	{"atlas", "keep errors and bounds over devices, data and K as a data set, and look through it", atlasCommand},
	{"advise", "tell which devices and formats meet a tolerance, and what they cost", adviseCommand},
	{"vectors", "compare the emulation with test vectors: vectors check FOLDER ...", vectorsCommand},
	{"infer", "find out how an unknown matrix unit adds, by asking it", inferCommand},
	{"silicon", "use the dot products of this machine: processor and GPU", siliconCommand},
	{"gpu", "use the GPU of this machine", gpuCommand},
	{"version", "print the version of this program, and the machine that it runs on", versionCommand},
}

var errUsage = errors.New("called wrongly")

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(attend(signals, os.Args[1:], os.Stdout, os.Stderr))
}

// attend runs a command line until it ends or a signal arrives, and returns the
// exit status.
func attend(signals chan os.Signal, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, stdout, stderr) }()
	grace := time.Second
	if len(args) > 0 {
		grace = max(grace, graces[args[0]])
	}
	select {
	case status := <-ended:
		return status
	case s := <-signals:
		signal.Stop(signals) // the next signal kills the process
		cancel()
		select {
		case <-ended:
		case <-time.After(grace):
		}
		dropAll()
		fmt.Fprintln(stderr, "roundoff: interrupted")
		number, _ := s.(syscall.Signal)
		return 128 + int(number)
	}
}

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	if asksHelp(args[0]) {
		if len(args) > 1 && !asksHelp(args[1]) {
			return run(ctx, append(slices.Clone(args[1:]), "-help"), stdout, stderr)
		}
		out := &minded{Writer: stdout}
		if usage(out); out.err != nil {
			fmt.Fprintf(stderr, "roundoff help: %v\n", out.err)
			return 1
		}
		return 0
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		out := &minded{Writer: stdout}
		err := c.run(ctx, args[1:], out, stderr)
		if help, ok := err.(helpText); ok {
			_, err = io.WriteString(out, string(help))
		}
		if err == nil {
			err = out.err
		}
		switch {
		case err == nil:
			return 0
		case errors.Is(err, errUsage):
			return 2
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return 1 // the function that cancelled ctx reports it
		case errors.Is(err, gpu.ErrNoGPU), errors.Is(err, cpu.ErrNoMatrixUnit):
			fmt.Fprintf(stderr, "roundoff %s: %v\n", c.name, err)
			return 3
		}
		fmt.Fprintf(stderr, "roundoff %s: %v\n", c.name, err)
		return 1
	}
	fmt.Fprintf(stderr, "roundoff: unknown command %q\n\n", args[0])
	usage(stderr)
	return 2
}

// asksHelp reports whether the first word of a command line asks for help.
func asksHelp(word string) bool {
	return slices.Contains([]string{"help", "-h", "--h", "-help", "--help"}, word)
}

// minded is a writer that remembers its first error: a command whose output
// cannot be written has failed.
type minded struct {
	io.Writer
	err error
}

func (w *minded) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// subcommands returns the subcommands of the commands that have some.
func subcommands() map[string][]command {
	return map[string][]command{"plan": planCommands, "atlas": atlasCommands, "silicon": siliconCommands, "gpu": gpuCommands}
}

// usage lists the commands.
func usage(w io.Writer) {
	fmt.Fprint(w, "Usage: roundoff COMMAND [-flag ...] [argument ...]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-15s %s\n", c.name, c.summary)
		for _, sub := range subcommands()[c.name] {
			fmt.Fprintf(w, "  %-15s %s\n", c.name+" "+sub.name, sub.summary)
		}
	}
	fmt.Fprintf(w, "  %-15s %s\n", "help", "say this, or what a command takes: help gpu speed")
}
