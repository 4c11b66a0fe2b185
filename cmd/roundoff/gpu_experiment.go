package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/gpu"
	"github.com/roundofflab/roundoff/pkg/paper"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// mostRecorded is the largest number of elements of the matrices of an
// experiment, counted as by checkMatrices.
const mostRecorded = 4 * question.MostDrawn

// An experiment is an experiment of the paper that runs on a GPU and returns a
// record.
type experiment struct {
	name string
	run  func(ctx context.Context, g *gpu.GPU, from paper.Provenance, w io.Writer) (paper.Record, error)
}

// gpuExperiment runs the paper's experiments on the GPU and writes their
// records.
func gpuExperiment(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	product, profile := paper.DefaultGEMM, paper.DefaultGPUProfile
	flags := newFlags("gpu experiment", "[-flag ...] DIR [experiment ...]\n\n"+
		"Runs the paper's experiments on the GPU, gemm-symmetric, gemm-positive and profile, or those\n"+
		"named, and writes a record DIR/experiment-size-seed.json of each: what cuBLAS and cuBLASLt make\n"+
		"of the product of Section 4.2, and the times of the kernels of Table 3. It says how many results\n"+
		"have the bits of the emulation, and writes no record of results that no rounding explains.\n\n", stderr)
	flags.IntVar(&product.M, "m", product.M, "rows of A")
	flags.IntVar(&product.N, "n", product.N, "columns of B")
	flags.IntVar(&product.K, "k", product.K, "columns of A and rows of B")
	flags.IntVar(&profile.Elements, "elements", profile.Elements, "of each array of the profile")
	flags.Uint64Var(&product.Seed, "seed", product.Seed, "of the operands")
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return misuse(flags, "want a folder")
	}
	if err := checkSizes(flags, mostRecorded, question.Size{Name: "m", Value: product.M}, question.Size{Name: "n", Value: product.N}, question.Size{Name: "k", Value: product.K}); err != nil {
		return err
	}
	if err := checkSizes(flags, question.MostDrawn, question.Size{Name: "elements", Value: profile.Elements}); err != nil {
		return err
	}
	if err := question.CheckMatrices(mostRecorded, product.M, product.N, product.K); err != nil {
		return err
	}
	profile.Seed = product.Seed
	dir, chosen := words[0], words[1:]
	list := []experiment{
		{"gemm-symmetric", productOn(product, paper.UniformSymmetric)},
		{"gemm-positive", productOn(product, paper.UniformUnit)},
		{"profile", profileOn(profile)},
	}
	for _, name := range chosen {
		if !slices.ContainsFunc(list, func(e experiment) bool { return e.name == name }) {
			return misuse(flags, "no experiment %q, want gemm-symmetric, gemm-positive or profile", name)
		}
	}

	g, err := gpu.Open()
	if err != nil {
		return err
	}
	defer g.Close()
	from, err := provenance(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, e := range list {
		if len(chosen) > 0 && !slices.Contains(chosen, e.name) {
			continue
		}
		var found bytes.Buffer
		record, err := e.run(ctx, g, from, &found)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if err := paper.WriteRecord(dir, record); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s\n%s", filepath.Join(dir, record.File()), &found)
	}
	return nil
}

// provenance returns the names and versions of the GPU and its libraries.
func provenance(g *gpu.GPU) (paper.Provenance, error) {
	info, err := g.Info()
	if err != nil {
		return paper.Provenance{}, err
	}
	from := paper.Provenance{GPU: fmt.Sprintf("%s, compute capability %s", info.Name, info.Capability),
		Architecture: info.Architecture, Driver: info.Driver, Date: time.Now().UTC().Format(time.DateOnly)}
	for _, l := range info.Libraries {
		if l.Name == "libcublas" {
			from.Library = "cuBLAS " + l.Version
		}
	}
	return from, nil
}

// productOn returns the product of Section 4.2 as an experiment on a GPU. It is
// computed by the call in the paper with its arguments corrected, which does
// not report its algorithm, and by a call that does. The experiment writes how
// many outputs equal the emulation bit for bit.
func productOn(e paper.GEMM, of paper.Distribution) func(context.Context, *gpu.GPU, paper.Provenance, io.Writer) (paper.Record, error) {
	e.Distribution = of
	return func(ctx context.Context, g *gpu.GPU, from paper.Provenance, w io.Writer) (paper.Record, error) {
		a, b := e.Operands()
		possible, err := newPlausible(a, b)
		if err != nil {
			return nil, err
		}
		d := blas32.General{Rows: e.M, Cols: e.N, Stride: e.N, Data: make([]float32, e.M*e.N)}
		record := e.NewRecord(from)
		for _, call := range []string{"cublasGemmEx", "cublasLtMatmul"} {
			k := g.Routine(devices.HopperF16())
			k.Classic = call == "cublasGemmEx"
			// The first product of a library also loads its kernels.
			var report gpu.Report
			for range 2 {
				var err error
				if report, err = k.Multiply(ctx, blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, d); err != nil {
					return nil, err
				}
			}
			algorithm, splitK := "", 0
			for _, c := range report.Algorithms {
				algorithm = fmt.Sprintf("%d, tile %d, stages %d, cluster %d", c.ID, c.Tile, c.Stages, c.ClusterShape)
				splitK = c.SplitK
			}
			if err := possible.check(d); err != nil {
				return nil, fmt.Errorf("%s: %w", call, err)
			}
			record.Add(call, algorithm, splitK, report.Time, d)
			if device, ok := sumsBinary16(from.Architecture); ok {
				found := paper.NearestOrder([]tcore.Device{device}, splitK, a, b, d)
				fmt.Fprintf(w, "  %s: %d of %d outputs have the bits of %s, K in %d parts\n", call, found.Equal, len(d.Data), device.Name, found.SplitK)
			}
		}
		return record, nil
	}
}

// profileOn returns Table 3 as an experiment on a GPU. It writes how many
// results equal those of the processor bit for bit.
func profileOn(e paper.Profile) func(context.Context, *gpu.GPU, paper.Provenance, io.Writer) (paper.Record, error) {
	return func(ctx context.Context, g *gpu.GPU, from paper.Provenance, w io.Writer) (paper.Record, error) {
		a, b, c, a16, b16 := e.Operands()
		got, want := make([]float32, e.Elements), make([]float32, e.Elements)
		record := e.NewRecord(from)
		for _, k := range []struct {
			name    string
			emulate func()
			run     func() (time.Duration, error)
		}{
			{"mac", func() { tcore.StreamMAC(want, a, b, c) },
				func() (time.Duration, error) { return g.StreamMAC(ctx, got, a, b, c, e.Repeats) }},
			{"fma", func() { tcore.StreamFMA(want, a, b, c) },
				func() (time.Duration, error) { return g.StreamFMA(ctx, got, a, b, c, e.Repeats) }},
			{"mpfma", func() { tcore.StreamMPFMA(want, a16, b16, c) },
				func() (time.Duration, error) { return g.StreamMPFMA(ctx, got, a16, b16, c, e.Repeats) }},
		} {
			took, err := k.run()
			if err != nil {
				return nil, err
			}
			k.emulate()
			if err := near(got, want, a, b, c); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			equal := equalBits(got, want)
			record.Add(took, equal)
			fmt.Fprintf(w, "  %s: %d of %d results have the bits of the processor's\n", k.name, equal, len(got))
		}
		return record, nil
	}
}

// equalBits returns how many elements of x and y are equal bit for bit.
func equalBits(x, y []float32) (n int) {
	for i := range x {
		if math.Float32bits(x[i]) == math.Float32bits(y[i]) {
			n++
		}
	}
	return n
}
