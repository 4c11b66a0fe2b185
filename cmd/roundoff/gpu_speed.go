package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// gpuSpeed times products of square matrices with the algorithm that this
// module uses and with those that cuBLASLt suggests.
func gpuSpeed(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("gpu speed", "[--n size] [--passes p] [--algorithms a] [--seed s] [device]\n\n"+
		"Multiplies square matrices, random in [-1, 1), in the formats of an emulated device, that of\n"+
		"binary16 on Hopper if none is named. It times the algorithm that roundoff uses and those that\n"+
		"cuBLASLt suggests, on the device's clock and without the transfers, and prints the fastest first.\n\n", stderr)
	n := flags.Int("n", 8192, "rows and columns")
	passes := flags.Int("passes", 10, "of each algorithm, after one to warm up; the shortest time counts")
	limit := flags.Int("algorithms", 32, "to try")
	seed := flags.Uint64("seed", 1, "of the random matrices")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		words = []string{"hopper-wgmma-binary16-binary32"}
	}
	devices, err := chosen(devices.All(), words)
	if err != nil || len(devices) != 1 {
		return misuse(flags, "devices %q, want one of those that roundoff devices lists", words)
	}
	if *n < 1 || *n > 1<<15 || *passes < 1 || *passes > 1000 || *limit < 1 || *limit > 1000 {
		return misuse(flags, "n = %d, passes = %d, algorithms = %d, want n in [1, 32768], the others in [1, 1000]", *n, *passes, *limit)
	}
	g, err := gpu.Open()
	if err != nil {
		return err
	}
	defer g.Close()
	k := g.Routine(devices[0])
	if err := k.Check(); err != nil {
		return err
	}
	info, err := g.Info()
	if err != nil {
		return err
	}
	if need := *n * *n * (k.A.Bits() + k.B.Bits() + k.C.Bits()) / 8; need > info.Memory {
		return fmt.Errorf("-n %d takes %.1f GiB of device memory, and it has %.1f", *n, float64(need)/(1<<30), float64(info.Memory)/(1<<30))
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	a, b := question.DrawMatrix(rng, *n, *n, bound.Uniform(-1, 1)), question.DrawMatrix(rng, *n, *n, bound.Uniform(-1, 1))
	timings, err := k.Time(ctx, a, b, *passes, *limit)
	if err != nil {
		return err
	}
	ours := timings[0].Time
	slices.SortStableFunc(timings, func(x, y gpu.Timing) int { return int(x.Time - y.Time) })
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "algorithm\ttile\tstages\tcluster\tparts of K\ttime\tTflop/s\t")
	for _, t := range timings {
		mark := ""
		if t.Chosen {
			mark = "chosen"
		}
		flops := 2 * float64(*n) * float64(*n) * float64(*n) / t.Time.Seconds()
		a := t.Algorithm
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%v\t%.1f\t%s\n", a.ID, a.Tile, a.Stages, a.ClusterShape, a.SplitK,
			t.Time.Round(100*time.Nanosecond), flops/1e12, mark)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s, %d × %d, seed %d: chosen at %.3f of the best\n", devices[0].Name, *n, *n, *seed,
		timings[0].Time.Seconds()/ours.Seconds())
	return nil
}
