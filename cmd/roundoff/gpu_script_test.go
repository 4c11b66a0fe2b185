package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gpuScript runs lab/gpu.sh on this test's own program, which plays roundoff.
func gpuScript(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	cmd := exec.Command(filepath.Join("..", "..", "lab", "gpu.sh"), args...)
	cmd.Env = append(os.Environ(), "QUICK=hopper")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The script for an hour on a GPU asks everything, in order, keeps what each
// step prints, and goes on after a step that fails.
func TestGPUScript(t *testing.T) {
	if testing.Short() {
		t.Skip("starts thirty commands")
	}
	fakeGPU(t)
	t.Setenv("FAKE_SUM", "hopper")
	t.Setenv("AS_COMMAND", "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	has := func(t *testing.T, file string, want ...string) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("%s has no %q in %.2000q", filepath.Base(file), w, data)
			}
		}
	}

	t.Run("asks_all_and_keeps_it", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "a folder")
		status, told := gpuScript(t, program, out)
		if status != 0 || !strings.Contains(told, "all steps passed") {
			t.Errorf("status %d, want 0\n%s", status, told)
		}
		has(t, filepath.Join(out, "info.txt"), "compute capability  9.0 Hopper", "status 0, ")
		has(t, filepath.Join(out, "verify.txt"), " disagreements=0\n", "status 0, ")
		has(t, filepath.Join(out, "library.txt"), "first choices: 12 of 12 have the bits of their plans", " disagreements=0 ", "status 0, ")
		has(t, filepath.Join(out, "probe.txt"), "Inferred: ", "status 0, ")
		has(t, filepath.Join(out, "record.txt"), "rows 100", "rows 200", "tcv.gz 100, of which 0 ", "tcv.gz 200, of which ")
		has(t, filepath.Join(out, "experiment.txt"), "cublasLtMatmul: ", "mpfma: ", "status 0, ")
		has(t, filepath.Join(out, "speed.txt"), "chosen at ", "status 0, ")
		has(t, filepath.Join(out, "more.txt"), "--seed 2", "disagreements=")
		has(t, filepath.Join(out, "many.sha256"), ".tcv\n")
		if found, _ := filepath.Glob(filepath.Join(out, "recorded", "*.json")); len(found) != 3 {
			t.Errorf("records %v, want 3", found)
		}
	})
	t.Run("asks_what_is_named", func(t *testing.T) {
		out := t.TempDir()
		status, told := gpuScript(t, program, out, "info", "speed")
		found, _ := filepath.Glob(filepath.Join(out, "*"))
		if status != 0 || len(found) != 2 || !strings.Contains(told, "all steps passed") {
			t.Errorf("status %d, files %v\n%s", status, found, told)
		}
	})
	t.Run("goes_on_after_a_step_that_dies_or_hangs", func(t *testing.T) {
		t.Setenv("LIMIT", "5")
		for _, c := range []struct{ variable, want string }{
			{"FAKE_EXIT", "it printed nothing\nstatus 1, "},
			{"FAKE_HANG", "status 124, "},
		} {
			out := t.TempDir()
			t.Setenv(c.variable, "cublasLtMatmul")
			if status, told := gpuScript(t, program, out, "speed", "info"); status != 1 {
				t.Errorf("%s: status %d, want 1\n%s", c.variable, status, told)
			}
			t.Setenv(c.variable, "")
			has(t, filepath.Join(out, "speed.txt"), c.want)
			has(t, filepath.Join(out, "info.txt"), "compute capability", "status 0, ")
		}
	})
	t.Run("exits_with_3_without_a_GPU", func(t *testing.T) {
		out := t.TempDir()
		t.Setenv("FAKE_DEVICES", "0")
		status, told := gpuScript(t, program, out)
		if found, _ := filepath.Glob(filepath.Join(out, "*")); status != 3 || len(found) != 1 {
			t.Errorf("status %d, files %v, want 3 and info.txt\n%s", status, found, told)
		}
	})
	t.Run("refuses_wrong_arguments", func(t *testing.T) {
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{program}, "usage: "},
			{[]string{dir, dir}, "no program " + dir},
			{[]string{program, dir, "information"}, "no step information, want one of info verify"},
		} {
			if status, told := gpuScript(t, c.args...); status != 2 || !strings.Contains(told, c.want) {
				t.Errorf("%q: status %d, %s, want 2 and %q", c.args, status, told, c.want)
			}
		}
	})
}
