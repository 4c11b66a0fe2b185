// Command bench times package tcore and OpenBLAS in turn and prints, as a table
// in Markdown, the speeds of tcore and their ratios to the speed of OpenBLAS.
// If OpenBLAS cannot be built, it prints a message and no ratios. It must run
// in the root of the repository:
//
//	go run ./internal/bench [-rounds n] [-benchtime d] [-avx2]
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// groups are the benchmarks that are compared with an sgemm of the same shape;
// those without a shape are not compared.
var groups = []struct{ pattern, shape string }{
	{"^BenchmarkGEMM$/^device=/^n=512$", "512 512 512"},
	{"^BenchmarkGEMM$/^device=/^n=128$", "128 128 128"},
	{"^BenchmarkGEMM$/^device=/^n=1024$", "1024 1024 1024"},
	{"^Benchmark(Exact)?GEMM$/^device=/^n=1024x32768x8$", "1024 32768 8"},
	{"^BenchmarkRound$/^format=(binary16|bfloat16|e4m3)$/^mode=(ToNearestEven|Stochastic)$", ""},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	rounds := flag.Int("rounds", 5, "how often everything is timed")
	benchtime := flag.String("benchtime", "100ms", "the time of one benchmark in a round")
	avx2 := flag.Bool("avx2", false, "no AVX-512, in either")
	flag.Parse()
	if *avx2 {
		check(os.Setenv("GODEBUG", "cpu.avx512f=off,cpu.avx512bw=off"))
		check(os.Setenv("OPENBLAS_CORETYPE", "Haswell"))
	}

	dir, err := os.MkdirTemp("", "bench")
	check(err)
	defer os.RemoveAll(dir)
	ours := filepath.Join(dir, "tcore.test")
	check(run(exec.Command("go", "test", "-c", "-o", ours, "./pkg/tcore")))

	theirs := filepath.Join(dir, "sgemm")
	err = run(exec.Command("cc", "-O2", "-o", theirs, "internal/bench/openblas/sgemm.c", "-lopenblas"))
	if err != nil {
		log.Printf("no ratios, because OpenBLAS (libopenblas-dev) does not build: %v", err)
		theirs = ""
	}

	var t table
	for r := range *rounds {
		log.Printf("round %d of %d", r+1, *rounds)
		for _, g := range groups {
			before := yardstick(theirs, g.shape)
			cmd := exec.Command(ours, "-test.run=^$", "-test.bench="+g.pattern, "-test.benchtime="+*benchtime)
			cmd.Dir = "pkg/tcore"
			out, err := output(cmd)
			check(err)
			t.add(out, (before+yardstick(theirs, g.shape))/2)
		}
	}
	fmt.Printf("%s, %d cores, %s", processor(), runtime.NumCPU(), runtime.Version())
	if *avx2 {
		fmt.Print(", without AVX-512")
	}
	fmt.Print(".\n\n")
	t.print(os.Stdout)
}

// yardstick returns the speed of OpenBLAS's sgemm on one thread in MMAC/s (10⁶
// multiply-accumulate operations per second), or 0 if there is no sgemm or no
// shape.
func yardstick(sgemm, shape string) float64 {
	if sgemm == "" || shape == "" {
		return 0
	}
	cmd := exec.Command(sgemm, strings.Fields(shape)...)
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	out, err := output(cmd)
	check(err)
	var speed float64
	_, err = fmt.Sscan(out, &speed)
	check(err)
	return speed
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

func run(cmd *exec.Cmd) error {
	_, err := output(cmd)
	return err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
