package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/gpu"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name           string
		args           string
		status         int
		stdout, stderr string // a part of the output; "" means that there is none
	}{
		{"without_a_command_says_what_there_is", "", 2, "", "reproduce  "},
		{"help_is_no_mistake", "help", 0, "reproduce  ", ""},
		{"help_as_a_flag_neither", "--help", 0, "Usage: roundoff COMMAND", ""},
		{"refuses_an_unknown_command", "reprodcue", 2, "", `unknown command "reprodcue"`},
		{"refuses_an_unknown_flag", "reproduce -fast", 2, "", "flag provided but not defined: -fast"},
		{"refuses_a_bad_value", "reproduce -timeout soon", 2, "", `invalid value "soon"`},
		{"refuses_no_time", "reproduce -timeout 0s", 2, "", "timeout = 0s, want more than 0"},
		{"refuses_no_jobs", "reproduce -jobs 0", 2, "", "jobs = 0, want 1 or more"},
		{"tells_the_flags", "reproduce -help", 0, "-timeout time", ""},
		{"draws_no_page_without_a_run", "reproduce -page -out none", 1, "", "no report of a run"},
		{"tells_them_by_help", "help reproduce", 0, "Usage: roundoff reproduce", ""},
		{"tells_those_of_a_command_of_gpu", "help gpu speed", 0, "-algorithms int", ""},
		{"tells_those_of_bound", "bound -h", 0, "Usage: roundoff bound", ""},
		{"helps_with_help", "help help", 0, "Usage: roundoff COMMAND", ""},
		{"has_no_help_for_an_unknown_command", "help reprodcue", 2, "", `unknown command "reprodcue"`},
		{"says_the_usage_after_a_mistake_to_stderr", "bound -fast", 2, "", "Usage: roundoff bound"},
		{"lists_devices", "devices hopper", 0, "hopper-wgmma-binary16-binary32", ""},
		{"refuses_an_unknown_architecture", "devices pascal", 1, "", "no architecture \"pascal\", want one of volta, turing, "},
		{"refuses_vectors_without_check", "vectors ../..", 2, "", "Usage: roundoff vectors check"},
		{"fails_without_vectors", "vectors check .", 1, "", "no *.tcv.gz files below ."},
		{"fails_without_the_folder", "vectors check no/such/folder", 1, "", "no/such/folder"},
		{"refuses_one_matrix", "gemm a.npy -o d.npy", 2, "", "want two files"},
		{"refuses_to_multiply_for_nothing", "gemm a.npy b.npy", 2, "", "-o or -compare"},
		{"refuses_an_unknown_device", "gemm --device pascal a.npy b.npy -o d.npy", 1, "", "no device \"pascal\" for binary16"},
		{"refuses_an_unknown_format", "gemm --in half a.npy b.npy -o d.npy", 1, "", "no format \"half\", want one of binary16, "},
		{"fails_without_the_matrix", "gemm no/such.npy b.npy -o d.npy", 1, "", "open no/such.npy"},
		{"bounds_a_product", "bound --m 8 --n 8 --k 4096 --device volta", 0, "truncation ", ""},
		{"refuses_to_bound_nothing", "bound --k 0", 2, "", "0, want 1 to "},
		{"refuses_a_dot_of_matrices", "bound --kernel dot --m 2", 2, "", "dot with -m 1"},
		{"refuses_a_run_of_unknown_data", "bound --run", 2, "", "-dist for -run"},
		{"refuses_an_impossible_confidence", "bound --confidence 1", 1, "", "confidence \"1\", want a number between 0 and 1"},
		{"refuses_an_unknown_distribution", "bound --dist U(2,1)", 1, "", "want finite numbers, lo < hi"},
		{"refuses_an_unknown_order", "bound --order random", 1, "", "no order \"random\""},
		{"refuses_an_order_that_is_not_the_device's", "bound --order pairs", 1, "", "adds in its own order"},
		{"refuses_a_block_that_is_not_the_device's", "bound --block 4", 1, "", "adds 16 terms at once, not 4"},
		{"refuses_what_does_not_round", "bound --stochastic", 1, "", "truncates, want"},
		{"refuses_what_does_not_round_either", "bound --stochastic --device cdna3", 1, "", "truncates, want"},
		{"refuses_an_accumulator_that_is_not_there", "bound --acc bfloat16", 1, "", "accumulates in bfloat16"},
		{"refuses_an_unknown_result", "bound --out half", 1, "", "no format \"half\""},
		{"says_what_it_cannot_run", "bound --device hopper-mma-e4m3-binary32 --in e4m3 --dist U(0,1) --run", 1, "", "no emulation of single sums"},
		{"refuses_gpu_alone", "gpu", 2, "", "Usage: roundoff gpu COMMAND"},
		{"tells_what_gpu_can", "gpu -help", 0, "ROUNDOFF_CUDA_PATH", ""},
		{"refuses_an_unknown_command_of_gpu", "gpu buy", 2, "", `unknown command "buy"`},
		{"refuses_an_unknown_flag_of_gpu", "gpu -fast info", 2, "", "flag provided but not defined: -fast"},
		{"refuses_words_after_gpu_info", "gpu info all", 2, "", `unexpected "all"`},
		{"tells_its_version", "version", 0, ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH, ""},
		{"refuses_words_after_version", "version 2", 2, "", `"2" given, want no argument`},
		{"fails_without_notebooks", "reproduce -notebooks no/such/folder", 1, "", "no notebooks in no/such/folder"},
		{"fails_without_the_notebook_named", "reproduce -notebooks ../../internal/reproduce/testdata/notebooks nosuch", 1, "", "no notebook nosuch"},
		{"fails_without_a_kernel", "reproduce -notebooks ../../internal/reproduce/testdata/notebooks -kernel no/such.json", 1, "", "no kernelspec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), strings.Fields(c.args), &stdout, &stderr); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, w := range []struct{ name, got, want string }{
				{"stdout", stdout.String(), c.stdout}, {"stderr", stderr.String(), c.stderr},
			} {
				if !strings.Contains(w.got, w.want) || w.want == "" && w.got != "" {
					t.Errorf("%s %q, want %q", w.name, w.got, w.want)
				}
			}
		})
	}
}

func TestRun_tells_failure_from_success(t *testing.T) {
	saved := commands
	defer func() { commands = saved }()
	var err error
	commands = []command{{"try", "", func(context.Context, []string, io.Writer, io.Writer) error { return err }}}
	for _, c := range []struct {
		err    error
		status int
	}{{nil, 0}, {errors.New("no"), 1}, {errUsage, 2}, {fmt.Errorf("x: %w", gpu.ErrNoGPU), 3}} {
		err = c.err
		if status := run(t.Context(), []string{"try"}, io.Discard, io.Discard); status != c.status {
			t.Errorf("%v: status %d, want %d", c.err, status, c.status)
		}
	}
}

// A command whose output cannot be written fails.
func TestRun_minds_what_it_writes(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, line := range []string{"help", "devices", "bound", "advise -tolerance 1 -device hopper"} {
		var stderr bytes.Buffer
		if status := run(t.Context(), strings.Fields(line), full, &stderr); status != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: status %d, %q", line, status, stderr.String())
		}
	}
}

// help and the package documentation list every command.
func TestHelp_lists_every_command(t *testing.T) {
	var there []string
	for _, c := range commands {
		subs := subcommands()[c.name]
		if len(subs) == 0 {
			there = append(there, c.name)
		}
		for _, sub := range subs {
			there = append(there, c.name+" "+sub.name)
		}
	}
	there = append(there, "help")
	_, help, _ := ask(t, "help")
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]struct{ text, line string }{
		"help":              {help, `(?m)^  (\S+( \S+)?)  +`},
		"the documentation": {string(source), `(?m)^//\troundoff (\S+( \S+)?)  +`},
	} {
		var listed []string
		for _, match := range regexp.MustCompile(in.line).FindAllStringSubmatch(in.text, -1) {
			if len(subcommands()[match[1]]) == 0 {
				listed = append(listed, match[1])
			}
		}
		if !slices.Equal(listed, there) {
			t.Errorf("%s lists %q, want %q", name, listed, there)
		}
	}
}
