package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestGPUSpeed(t *testing.T) {
	fakeGPU(t)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"prints_every_algorithm", []string{"--n", "32", "--passes", "2"}, 0, "\n67 "},
		{"compares_the_chosen_one_with_the_best", []string{"--n", "32"}, 0,
			"hopper-wgmma-binary16-binary32, 32 × 32, seed 1: chosen at 1.000 of the best\n"},
		{"takes_another_device", []string{"--n", "32", "hopper-wgmma-e4m3-binary32"}, 0, "hopper-wgmma-e4m3-binary32, 32 × 32"},
		{"refuses_no_matrix", []string{"--n", "0"}, 2, "n = 0, passes = 10, algorithms = 32, want n in [1, 32768], the others in [1, 1000]"},
		{"refuses_more_than_the_device_holds", []string{"--n", "32768"}, 1, "-n 32768 takes 8.0 GiB of device memory, and it has 0.2"},
		{"refuses_what_is_no_device", []string{"hoper"}, 2, `devices ["hoper"], want one of those that roundoff devices lists`},
		{"refuses_formats_that_the_library_has_not", []string{"cdna3-mfma-e4m3fnuz-binary32"}, 1, "do not go together in cuBLASLt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), append([]string{"gpu", "speed"}, c.args...), &stdout, &stderr)
			if out := stdout.String() + stderr.String(); status != c.status || !strings.Contains(out, c.want) {
				t.Errorf("status %d, %s, want %d and %q", status, out, c.status, c.want)
			}
		})
	}
	t.Run("exits_with_3_without_a_GPU", func(t *testing.T) {
		t.Setenv("FAKE_DEVICES", "0")
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), []string{"gpu", "speed"}, &stdout, &stderr); status != 3 {
			t.Errorf("status %d, %s", status, stderr.String())
		}
	})
}
