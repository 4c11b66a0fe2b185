package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/roundofflab/roundoff/internal/reproduce"
)

// reproduceCommand runs the notebooks.
func reproduceCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	job := reproduce.Job{Log: stdout}
	flags := newFlags("reproduce", "[-flag ...] [notebook ...]\n\n"+
		"Runs the notebooks named, by name or its beginning (05), or all of them.\n\n", stderr)
	redraw := flags.Bool("page", false, "run nothing, write the page of the last run anew")
	flags.StringVar(&job.Out, "out", "out", "write into this `folder`")
	flags.StringVar(&job.Notebooks, "notebooks", "notebooks", "run the notebooks in this `folder`")
	flags.StringVar(&job.Kernel, "kernel", "tools/kernels/gonb/kernel.json", "run them in the kernel of this `file`")
	flags.DurationVar(&job.Timeout, "timeout", 5*time.Minute, "let a cell run no longer than this `time`")
	flags.IntVar(&job.AtATime, "jobs", min(runtime.NumCPU(), 2), "run this `number` of notebooks at a time")
	flags.BoolVar(&job.Apart, "apart", false, "compile every cell by itself, as when a reader runs it, and not those of a notebook together")
	var err error
	if job.Names, err = parseFlags(flags, args); err != nil {
		return err
	}
	if job.Timeout <= 0 {
		return misuse(flags, "timeout = %v, want more than 0", job.Timeout)
	}
	if job.AtATime < 1 {
		return misuse(flags, "jobs = %d, want 1 or more", job.AtATime)
	}
	run := func() (*reproduce.Report, error) { return job.Run(ctx) }
	if *redraw {
		run = func() (*reproduce.Report, error) { return reproduce.Redraw(job.Out) }
	}
	report, err := run()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%v\nthe page: %s\n", report, filepath.Join(job.Out, "index.html"))
	return nil
}
