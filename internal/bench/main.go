// Command bench times package tcore and OpenBLAS in turn and prints, as a table
// in Markdown, the speeds of tcore and their ratios to the speed of OpenBLAS's
// sgemm on one thread. Every benchmark runs between two sgemms of its shape. If
// OpenBLAS cannot be built, it prints a message and no ratios. It must run in
// the root of the repository:
//
//	go run ./internal/bench [-rounds n] [-benchtime d] [-only regexp] [-avx2] [-mmasim python]
//
// With -mmasim a second table compares with MMA-Sim (pip install mmasim).
// OPENBLAS_CORETYPE, which makes OpenBLAS choose the routines of another
// processor, is not passed on.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/roundofflab/roundoff/internal/vector"
)

// patterns select the benchmarks.
var patterns = []string{
	"^Benchmark(Peak|GEMM|Integers|Codes|ExactGEMM|ExactBesideEmulation)$",
	"^BenchmarkRound$/^format=(binary16|bfloat16|e4m3)$/^mode=(ToNearestEven|Stochastic)$",
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 5, "how often everything is timed")
	benchtime := flag.String("benchtime", "100ms", "the time of one benchmark in a round")
	only := flag.String("only", "", "time only benchmarks whose name matches")
	avx2 := flag.Bool("avx2", false, "no AVX-512, in either")
	python := flag.String("mmasim", "", "a Python that has MMA-Sim")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	check(err)
	check(os.Unsetenv("OPENBLAS_CORETYPE"))
	features := vector.Detect()
	if *avx2 {
		check(os.Setenv("GODEBUG", "cpu.avx512f=off,cpu.avx512bw=off"))
		check(os.Setenv("OPENBLAS_CORETYPE", "Haswell"))
		features = vector.Features{Bits: min(features.Bits, 256)}
	}

	dir, err := os.MkdirTemp("", "bench")
	check(err)
	defer os.RemoveAll(dir)
	tests := filepath.Join(dir, "tcore.test")
	_, err = output(exec.Command("go", "test", "-c", "-o", tests, "./pkg/tcore"))
	check(err)
	openBLAS, mmaSim := startOpenBLAS(dir), startMMASim(*python)
	defer openBLAS.stop()
	defer mmaSim.stop()

	ours := benchmarks{tests}
	var names []string
	for _, pattern := range patterns {
		for _, name := range ours.names(pattern) {
			if wanted.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	var t table
	for r := range *rounds {
		log.Printf("round %d of %d", r+1, *rounds)
		for _, name := range names {
			shape := shapeOf(name)
			before := openBLAS.speed(shape)
			out := ours.run(name, *benchtime)
			t.add(out, (before+openBLAS.speed(shape))/2, mmaSim.speed(emulationOf(name)))
		}
	}
	fmt.Printf("%s, %d cores, %v; %s; OpenBLAS for %s.\n\n", processor(), runtime.NumCPU(), features, runtime.Version(), openBLAS.about)
	t.print(os.Stdout)
	if *python != "" {
		fmt.Printf("\nMMA-Sim %s, one thread.\n\n", mmaSim.about)
		t.printRival(os.Stdout)
	}
}

// benchmarks is the program with the benchmarks of package tcore.
type benchmarks struct{ program string }

// names returns the names of the benchmarks that match the pattern.
func (b benchmarks) names(pattern string) []string {
	var names []string
	for line := range strings.Lines(b.call(pattern, "1x")) {
		if name, _, _, ok := parse(line); ok {
			names = append(names, name)
		}
	}
	return names
}

// run runs one benchmark and returns what it prints.
func (b benchmarks) run(name, benchtime string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return b.call(strings.Join(parts, "/"), benchtime)
}

func (b benchmarks) call(pattern, benchtime string) string {
	cmd := exec.Command(b.program, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+benchtime)
	cmd.Dir = "pkg/tcore"
	out, err := output(cmd)
	check(err)
	return out
}

// shapeOf returns the shape of the product that a benchmark computes, as three
// numbers, or "" if its name has none.
func shapeOf(name string) string {
	for part := range strings.SplitSeq(name, "/") {
		if n, ok := strings.CutPrefix(part, "n="); ok {
			if strings.Contains(n, "x") {
				return strings.ReplaceAll(n, "x", " ")
			}
			return n + " " + n + " " + n
		}
	}
	return ""
}

// emulationOf returns the question for the speed of MMA-Sim on the device of a
// benchmark, for a product that fits its memory, or "" if it is asked already
// or is of other data.
func emulationOf(name string) string {
	if fields := strings.Split(name, "/"); len(fields) == 4 && fields[3] == "threads=1" {
		if device, ok := strings.CutPrefix(fields[1], "device="); ok {
			return device + " 64 512 64"
		}
	}
	return ""
}

// processor returns the name of the processor.
func processor() string {
	out, err := output(exec.Command("lscpu"))
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "Model name:"); ok {
			return strings.TrimSpace(name)
		}
	}
	return runtime.GOARCH
}

// output runs cmd and returns its standard output. The error contains its
// standard error output.
func output(cmd *exec.Cmd) (string, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, complaint.String())
	}
	return string(out), err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
