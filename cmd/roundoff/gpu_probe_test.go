package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/vectest"
)

func TestGPU_commands_on_the_emulation(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, args string
		status     int
		want       []string // in stdout and stderr together
	}{
		{"probe_finds_the_built_in_record", "gpu probe --emulate hopper-wgmma-e4m3-binary32", 0,
			[]string{"Emulated: no GPU is asked", "block             32 products", "alignment         13 bits", "It predicts 1000 of 1000"}},
		{"probe_takes_one_of_an_architecture", "gpu probe --emulate turing turing-mma-binary16-binary16", 0, []string{"mma.m16n8k8, binary16"}},
		{"probe_tells_when_it_does_not_know", "gpu probe --emulate hopper-mma-e5m2-binary32", 0, []string{"of 1000 random dot products, so that it is not"}},
		{"verify_agrees", "gpu verify --seconds 0.01 --emulate volta", 0,
			[]string{"Emulated: ", "volta-mma-binary16-binary32 4000 of 4000 agree", "dots=8000 disagreements=0"}},
		{"verify_refuses_no_time", "gpu verify --seconds 0 --emulate volta", 2, []string{"seconds = 0, want more than 0"}},
		{"record_writes_files", "gpu record --rows 200 --emulate volta " + dir, 0, []string{"Emulated: ", "volta-mma-binary16-binary16.tcv.gz 200, of which 0 differ from the emulation"}},
		{"vectors_check_reads_them", "vectors check " + dir, 0, []string{"rows=400 graded=400 mismatches=0 unsupported=0"}},
		{"record_refuses_no_folder", "gpu record --emulate volta", 2, []string{"want a folder"}},
		{"record_refuses_no_rows", "gpu record --rows 0 --emulate volta x", 2, []string{"rows = 0"}},
		{"refuses_what_it_cannot_emulate", "gpu probe --emulate pascal", 1, []string{`no device or architecture "pascal"`}},
		{"refuses_another_device", "gpu probe --emulate volta turing", 1, []string{`no device "turing" here, want one of volta-mma`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if status := run(t.Context(), strings.Fields(c.args), &out, &out); status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q, want %q in it", out.String(), want)
				}
			}
		})
	}
	t.Run("the_header_says_emulated", func(t *testing.T) {
		head := make([]byte, 600)
		n, _ := vectest.Open(t, filepath.Join(dir, "volta-mma-binary16-binary32.tcv.gz")).Read(head)
		for _, want := range []string{`"emulated":"volta-mma-binary16-binary32"`, `"kind":"T"`, `"seed":1`, `"date":"2`} {
			if !strings.Contains(string(head[:n]), want) {
				t.Errorf("%q, want %s", head[:n], want)
			}
		}
	})
}

// Without a GPU, the commands print one sentence and exit with 3, as roundoff
// gpu info does.
func TestGPU_commands_without_a_GPU(t *testing.T) {
	fakeGPU(t)
	t.Setenv("FAKE_DEVICES", "0")
	dir := filepath.Join(t.TempDir(), "vectors")
	for _, args := range []string{"gpu probe", "gpu verify --seconds 1", "gpu record " + dir} {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), strings.Fields(args), &stdout, &stderr)
		if want := "roundoff gpu: no NVIDIA GPU: no device 0, the driver has 0\n"; status != 3 || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%s: status %d, %q, %q, want 3 and %q", args, status, stdout.String(), stderr.String(), want)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder is made for nothing")
	}
}

// The commands skip instructions that the driver cannot compile; the fake GPU
// compiles none.
func TestGPU_commands_skip_what_the_driver_cannot_compile(t *testing.T) {
	fakeGPU(t)
	for _, args := range []string{"gpu probe", "gpu verify --seconds 1", "gpu record " + t.TempDir()} {
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), &stdout, &stderr); status != 1 || !strings.Contains(stderr.String(), "kernel for hopper-") {
			t.Errorf("%s: status %d, %q, want 1 and the kernel", args, status, stderr.String())
		}
	}
}
