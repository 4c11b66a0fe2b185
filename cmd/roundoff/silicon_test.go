package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// withoutGPU makes the libraries of CUDA tell of no device: a fake that another
// test has loaded, and a real driver.
func withoutGPU(t *testing.T) {
	t.Helper()
	t.Setenv("FAKE_DEVICES", "0")
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
}

// siliconRun runs roundoff silicon and returns its status and outputs.
func siliconRun(t *testing.T, line string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), append([]string{"silicon"}, strings.Fields(line)...), &out, &err)
	return status, out.String(), err.String()
}

// The processor agrees with its emulation, and info names what it has.
func TestSilicon(t *testing.T) {
	withoutGPU(t)
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
	withoutGPU(t)
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
	withoutGPU(t)
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

// Of a machine with a GPU both are asked, and either alone by its names.
func TestSiliconWithGPU(t *testing.T) {
	fakeGPU(t)
	const onGPU = "hopper-wgmma-binary16-binary32"
	status, told, stderr := siliconRun(t, "info")
	if status != 0 || !strings.Contains(told, "sapphirerapids-tdpbf16ps-") || !strings.Contains(told, onGPU+" ") || !strings.Contains(told, "Fake GPU 0") {
		t.Errorf("status %d, %.500s%.500s", status, told, stderr)
	}
	// The fake compiles no kernel.
	if status, _, stderr = siliconRun(t, "probe "+onGPU); status != 1 || !strings.Contains(stderr, "kernel for "+onGPU) {
		t.Errorf("status %d, %q", status, stderr)
	}
	status, told, stderr = siliconRun(t, "record --rows 10 "+t.TempDir())
	if status != 1 || !strings.Contains(told, onGPU+" skipped: ") || !strings.Contains(stderr, "kernel for ") {
		t.Errorf("status %d, %s%s", status, told, stderr)
	}
	for _, d := range usable() {
		if !strings.Contains(told, d.Name+".tcv.gz 10, ") {
			t.Errorf("%s is missing in %s", d.Name, told)
		}
	}
	t.Setenv("FAKE_FAIL", "cuDeviceGetName:999")
	if status, _, stderr = siliconRun(t, "info"); status != 1 || !strings.Contains(stderr, "cuDeviceGetName() returned 999") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// Wrong arguments are told as elsewhere.
func TestSiliconMisused(t *testing.T) {
	withoutGPU(t)
	for line, want := range map[string]string{
		"verify --seconds 0": "seconds = 0, want more than 0",
		"verify hopper":      `no device "hopper" here, want one of sapphirerapids-tdpbf16ps`,
		"info more":          `unexpected "more"`,
		"verify --seconds 1 hopper-wgmma-binary16-binary32": "no NVIDIA GPU",
		"verify --dots -1":  "dots = -1, want 0 to 1e15",
		"record":            "want a folder",
		"record --rows 0 x": "rows = 0",
		"probe hopper":      `no device "hopper" here, want one of sapphirerapids-tdpbf16ps`,
		"speed":             `roundoff silicon: unknown command "speed"`,
	} {
		if status, _, stderr := siliconRun(t, line); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// Without the instructions the commands say so, and exit with 3.
func TestSiliconWithoutInstructions(t *testing.T) {
	withoutGPU(t)
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
