// Roundoff is the command-line tool of this module.
//
//	roundoff reproduce        run the notebooks, write figures, tables and claims, and a page of them
//	roundoff devices          list the tensor cores that are emulated
//	roundoff gemm             multiply matrices of NumPy files as a tensor core does
//	roundoff bound            bound the error of a matrix product, by every bound there is
//	roundoff sweep            count how every bound does on emulated machines
//	roundoff advise           tell which devices and formats meet a tolerance, and what they cost
//	roundoff vectors          compare the emulation with test vectors
//	roundoff gpu info         tell the GPU, its driver and libraries
//	roundoff gpu probe        measure how each of its instructions adds
//	roundoff gpu record       write test vectors of its results
//	roundoff gpu verify       compare it with the emulation
//	roundoff gpu speed        time products with every algorithm of cuBLASLt
//	roundoff gpu experiment   run the paper's experiments on it
//	roundoff help             say what there is, or what a command takes: help gpu speed
//
// It exits with 0 when all went well, 1 when something failed, 2 when it was
// called wrongly, and 3 when it wants a GPU and there is none. A signal that
// asks it to stop, as Ctrl-C does, stops it with 128 and the number of the
// signal, from wherever it is; a second one kills it.
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

	"github.com/roundofflab/roundoff/pkg/gpu"
)

// A command is one thing the tool does. Run returns errUsage when it was called
// wrongly and has said so, and any other error when it failed.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// graces are how long commands may take, when interrupted, to end what they
// have begun: the kernels of notebooks, a file of what there is so far. Others
// have a second.
var graces = map[string]time.Duration{"reproduce": 20 * time.Second, "sweep": 5 * time.Second}

var commands = []command{
	{"reproduce", "run the notebooks, write figures, tables and claims, and a page of them", reproduceCommand},
	{"devices", "list the tensor cores that are emulated", devicesCommand},
	{"gemm", "multiply matrices of NumPy files as a tensor core does", gemmCommand},
	{"bound", "bound the error of a matrix product, by every bound there is", boundCommand},
	{"sweep", "count how every bound does on emulated machines", sweepCommand},
	{"advise", "tell which devices and formats meet a tolerance, and what they cost", adviseCommand},
	{"vectors", "compare the emulation with test vectors: vectors check FOLDER ...", vectorsCommand},
	{"gpu", "use the GPU of this machine", gpuCommand},
}

var errUsage = errors.New("called wrongly")

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(attend(signals, os.Args[1:], os.Stdout, os.Stderr))
}

// attend runs a command line until it is over or a signal comes, and returns
// the exit status.
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
		signal.Stop(signals) // the next one kills
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

// run carries out one command line and returns the exit status.
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
			return 1 // whoever cancelled it says so
		case errors.Is(err, gpu.ErrNoGPU):
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

// asksHelp reports whether a first word asks for help.
func asksHelp(word string) bool {
	return slices.Contains([]string{"help", "-h", "--h", "-help", "--help"}, word)
}

// minded remembers the first error of what it writes to: a command that could
// not say what it found has failed.
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

// usage lists the commands.
func usage(w io.Writer) {
	fmt.Fprint(w, "Usage: roundoff COMMAND [-flag ...] [argument ...]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-15s %s\n", c.name, c.summary)
		if c.name == "gpu" {
			for _, c := range gpuCommands {
				fmt.Fprintf(w, "  %-15s %s\n", "gpu "+c.name, c.summary)
			}
		}
	}
	fmt.Fprintf(w, "  %-15s %s\n", "help", "say this, or what a command takes: help gpu speed")
}
