package cpu_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Dot products of BFDOT, as QEMU computes them, have the bits of the emulation:
// the tests of dot products and of difficult matrices pass there.
func TestArmUnderAnEmulator(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for another architecture")
	}
	if runtime.GOARCH == "arm64" {
		t.Skip("the other tests run here")
	}
	for _, tool := range []string{"go", "qemu-aarch64-static"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	cmd := exec.Command("go", "test", "-count=1", "-v", "-exec", "qemu-aarch64-static", "-run", "^TestDots$|^TestGEMM_of_difficult_matrices$", ".")
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(text, "--- SKIP: TestDots"):
		t.Skip("this QEMU has no BFDOT")
	case !strings.Contains(text, "--- PASS: TestDots/arm-bfdot-bfloat16-binary32"):
		t.Errorf("no dot product of BFDOT was compared:\n%s", out)
	}
}
