package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// siliconRun runs roundoff silicon and returns its status and outputs.
func siliconRun(t *testing.T, line string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), append([]string{"silicon"}, strings.Fields(line)...), &out, &err)
	return status, out.String(), err.String()
}

// The processor agrees with its emulation, and info names what it has.
func TestSilicon(t *testing.T) {
	list := usable()
	if len(list) == 0 {
		t.Skip("this processor has none of the instructions, or may not use them")
	}
	status, stdout, stderr := siliconRun(t, "verify --seconds 0.5 --seed 2")
	if status != 0 || !strings.Contains(stdout, " disagreements=0\n") || strings.Contains(stdout, "dots=0") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	_, told, _ := siliconRun(t, "info")
	for _, d := range list {
		if !strings.Contains(stdout, d.Name) || !strings.Contains(told, d.Name) {
			t.Errorf("%s is missing in %q or %q", d.Name, stdout, told)
		}
	}
}

// A number of dot products is compared in whole grids, and the line after tells
// the seed and the regimes.
func TestSiliconDots(t *testing.T) {
	list := usable()
	if len(list) == 0 {
		t.Skip("this processor has none of the instructions, or may not use them")
	}
	status, stdout, stderr := siliconRun(t, "verify --dots 2e5 --seed 3")
	if status != 0 || strings.Count(stdout, " 212992 of 212992 agree\n  seed 3, ") != len(list) || strings.Count(stdout, "threshold 16384, opposite 16384\n") != len(list) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// What the processor records, the reader of vectors checks; what it is asked,
// it answers as the emulation.
func TestSiliconRecord(t *testing.T) {
	list := usable()
	if len(list) == 0 {
		t.Skip("this processor has none of the instructions, or may not use them")
	}
	dir := t.TempDir()
	status, stdout, stderr := siliconRun(t, "record --rows 300 "+dir)
	if status != 0 || strings.Count(stdout, ".tcv.gz 300, of which 0 differ from the emulation\n") != len(list) {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	var out bytes.Buffer
	want := fmt.Sprintf("rows=%d graded=%[1]d mismatches=0 unsupported=0", 300*len(list))
	if status := run(t.Context(), []string{"vectors", "check", dir}, &out, &out); status != 0 || !strings.Contains(out.String(), want) {
		t.Errorf("status %d, %s, want %s", status, &out, want)
	}
	status, stdout, stderr = siliconRun(t, "probe")
	if status != 0 || strings.Contains(stdout, "differ") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// Wrong arguments are told as elsewhere.
func TestSiliconMisused(t *testing.T) {
	for line, want := range map[string]string{
		"verify --seconds 0": "seconds = 0, want more than 0",
		"verify hopper":      `no device "hopper" here, want one of sapphirerapids-tdpbf16ps`,
		"info more":          `unexpected "more"`,
		"verify --dots -1":   "dots = -1, want 0 to 1e15",
		"record":             "want a folder",
		"record --rows 0 x":  "rows = 0",
		"probe hopper":       `no device "hopper" here, want one of sapphirerapids-tdpbf16ps`,
		"speed":              `roundoff silicon: unknown command "speed"`,
	} {
		if status, _, stderr := siliconRun(t, line); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// Without the instructions the commands say so, and exit with 3.
func TestSiliconWithoutInstructions(t *testing.T) {
	if os.Getenv("SILICON_TEST_NONE") != "" {
		for _, line := range []string{"info", "verify --seconds 1", "verify --dots 1", "probe", "record " + t.TempDir()} {
			if status, _, stderr := siliconRun(t, line); status != 3 || !strings.Contains(stderr, "no matrix unit to use") {
				t.Errorf("%s: status %d, %q", line, status, stderr)
			}
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSiliconWithoutInstructions$")
	cmd.Env = append(os.Environ(), "SILICON_TEST_NONE=1", "GODEBUG=cpu.amxbf16=off,cpu.amxint8=off,cpu.avx512bf16=off,cpu.avx512fp16=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
