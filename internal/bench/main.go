// Command bench times packages tcore, cpu and plan and OpenBLAS in turn and
// prints, as a table in Markdown, their speeds and the ratios to the speed of
// OpenBLAS's sgemm on one thread. Every benchmark runs between two sgemms of
// its shape. If OpenBLAS cannot be built, it prints a message and no ratios. It
// must run in the root of the repository:
//
//	go run ./internal/bench [-rounds n] [-benchtime d] [-only regexp] [-fastest] [-avx2] [-mmasim python]
//
// A guest on a shared host has its caches, its memory and AMX, which two
// threads of a core share, with others. With -fastest the table has the fastest
// product of all rounds in place of the medians, of OpenBLAS as of the
// benchmarks: what the processor does where nobody disturbs either. Of rounding
// it has the fastest round. Two threads over one is then less than what the
// processor does if both cores are never left alone at once.
//
// With -mmasim a second table compares with MMA-Sim (pip install mmasim).
// OpenBLAS knows processors by their model, and takes routines from before AVX
// for one that it does not know: OPENBLAS_CORETYPE is set to what the
// processor's features allow, whatever it is in the environment.
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
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/internal/cputime"
	"github.com/roundofflab/roundoff/internal/sample"
	"github.com/roundofflab/roundoff/internal/vector"
)

// patterns select the benchmarks of a package.
var patterns = []struct{ pkg, pattern string }{
	{"pkg/tcore", "^Benchmark(Peak|GEMM|Machine|Integers|Codes|ExactGEMM|ExactBesideEmulation)$"},
	{"pkg/tcore", "^BenchmarkRound$/^format=(binary16|bfloat16|e4m3)$/^mode=(ToNearestEven|Stochastic)$"},
	{"pkg/cpu", "^BenchmarkProcessor$"},
	{"pkg/plan", "^Benchmark(Plan|BesideDevice)$"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 5, "how often everything is timed")
	benchtime := flag.String("benchtime", "100ms", "the time of one benchmark in a round")
	only := flag.String("only", "", "time only benchmarks whose name matches")
	fastest := flag.Bool("fastest", false, "the fastest product of all rounds, of OpenBLAS too, in place of medians")
	avx2 := flag.Bool("avx2", false, "no AVX-512, in either")
	python := flag.String("mmasim", "", "a Python that has MMA-Sim")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	check(err)
	features := vector.Detect()
	if *avx2 {
		check(os.Setenv("GODEBUG", "cpu.avx512f=off,cpu.avx512bw=off"))
		features = vector.Features{Bits: min(features.Bits, 256)}
	}
	check(os.Unsetenv("OPENBLAS_CORETYPE"))
	if core := map[int]string{256: "Haswell", 512: "SkylakeX"}[features.Bits]; core != "" {
		check(os.Setenv("OPENBLAS_CORETYPE", core))
	}

	dir, err := os.MkdirTemp("", "bench")
	check(err)
	defer os.RemoveAll(dir)
	openBLAS, mmaSim := startOpenBLAS(dir, *fastest), startMMASim(*python)
	first, second := openBLAS.byClock(), openBLAS.byClock()
	defer openBLAS.stop()
	defer first.stop()
	defer second.stop()
	defer mmaSim.stop()

	var list []benchmark
	programs := map[string]program{}
	for _, p := range patterns {
		if programs[p.pkg] == (program{}) {
			programs[p.pkg] = build(dir, p.pkg)
		}
		for _, name := range programs[p.pkg].names(p.pattern, *only) {
			if wanted.MatchString(name) {
				list = append(list, benchmark{programs[p.pkg], name})
			}
		}
	}
	t := table{fastest: *fastest}
	var machine []float64
	for r := range *rounds {
		log.Printf("round %d of %d", r+1, *rounds)
		for _, b := range list {
			shape := shapeOf(b.name)
			before := openBLAS.speed(shape)
			out := b.run(*benchtime)
			t.add(out, before, openBLAS.speed(shape), mmaSim.speed(emulationOf(b.name)))
			if ratio := atOnce(first, second, shape); ratio > 0 {
				machine = append(machine, ratio)
			}
		}
	}
	fmt.Printf("%s, %d cores, %v; %s; OpenBLAS for %s.", processor(), runtime.NumCPU(), features, runtime.Version(), openBLAS.about)
	if len(machine) > 0 {
		fmt.Printf(" Two programs with an sgemm each, at once, have %.2f times the speed of one (%.2f to %.2f).", sample.Median(machine), slices.Min(machine), slices.Max(machine))
	}
	fmt.Print("\n\n")
	if *fastest {
		fmt.Printf("The fastest product of %d rounds, of OpenBLAS too.\n\n", *rounds)
	}
	t.print(os.Stdout)
	t.printThreads(os.Stdout)
	if *python != "" {
		fmt.Printf("\nMMA-Sim %s, one thread.\n\n", mmaSim.about)
		t.printRival(os.Stdout)
	}
}

// program is the program with the benchmarks of a package.
type program struct{ path, pkg string }

// build builds the program in dir.
func build(dir, pkg string) program {
	p := program{filepath.Join(dir, filepath.Base(pkg)+".test"), pkg}
	_, err := output(exec.Command("go", "test", "-c", "-o", p.path, "./"+pkg))
	check(err)
	return p
}

// names returns the names of the benchmarks that match the pattern, as far as
// [canMatch] says that only can match them: it prepares the products of each.
func (p program) names(pattern, only string) []string {
	function, rest, _ := strings.Cut(pattern, "/")
	cmd := exec.Command(p.path, "-test.list="+function)
	list, err := output(cmd)
	check(err)
	var functions, names []string
	for name := range strings.Lines(list) {
		if canMatch(strings.TrimPrefix(strings.TrimSpace(name), "Benchmark"), only) {
			functions = append(functions, strings.TrimSpace(name))
		}
	}
	if len(functions) == 0 {
		return nil
	}
	if pattern = "^(" + strings.Join(functions, "|") + ")$"; rest != "" {
		pattern += "/" + rest
	}
	for line := range strings.Lines(p.call(pattern, "1x", cputime.NamesOnly+"=1")) {
		if name, _, _, ok := parse(line); ok {
			names = append(names, name)
		}
	}
	return names
}

// canMatch reports whether only, a regular expression, can match a name that
// begins with function and a slash: whether what an alternative has before a
// slash does, or has a value of a later part, as in n=512.
func canMatch(function, only string) bool {
	for _, alternative := range alternatives(only) {
		first, _, _ := strings.Cut(alternative, "/")
		one, err := regexp.Compile(first)
		if err != nil || strings.Contains(first, "=") || one.MatchString(function) {
			return true
		}
	}
	return false
}

// alternatives splits a regular expression at each | that is in no parentheses.
func alternatives(only string) (list []string) {
	depth, from := 0, 0
	for i, c := range only {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			list, from = append(list, only[from:i]), i+1
		}
	}
	return append(list, only[from:])
}

// call runs benchmarks with more variables in their environment.
func (p program) call(pattern, benchtime string, variables ...string) string {
	cmd := exec.Command(p.path, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+benchtime)
	cmd.Dir, cmd.Env = p.pkg, append(os.Environ(), variables...)
	out, err := output(cmd)
	check(err)
	return out
}

// benchmark is one of a program.
type benchmark struct {
	program
	name string
}

// run runs the benchmark and returns what it prints.
func (b benchmark) run(benchtime string) string {
	parts := strings.Split("Benchmark"+b.name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return b.call(strings.Join(parts, "/"), benchtime)
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
