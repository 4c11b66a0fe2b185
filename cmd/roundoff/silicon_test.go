package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/cpu"
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
	list := cpu.Instructions()
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

// Wrong arguments are told as elsewhere.
func TestSiliconMisused(t *testing.T) {
	for line, want := range map[string]string{
		"verify --seconds 0": "seconds = 0, want more than 0",
		"verify hopper":      `no device "hopper" here, want one of sapphirerapids-tdpbf16ps`,
		"info more":          `unexpected "more"`,
		"probe":              `roundoff silicon: unknown command "probe"`,
	} {
		if status, _, stderr := siliconRun(t, line); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", line, status, stderr, want)
		}
	}
}

// Without the instructions the commands say so, and exit with 3.
func TestSiliconWithoutInstructions(t *testing.T) {
	if os.Getenv("SILICON_TEST_NONE") != "" {
		for _, line := range []string{"info", "verify --seconds 1"} {
			if status, _, stderr := siliconRun(t, line); status != 3 || !strings.Contains(stderr, "no matrix unit to use") {
				t.Errorf("%s: status %d, %q", line, status, stderr)
			}
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSiliconWithoutInstructions$")
	cmd.Env = append(os.Environ(), "SILICON_TEST_NONE=1", "GODEBUG=cpu.amxbf16=off,cpu.avx512bf16=off,cpu.avx512fp16=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
