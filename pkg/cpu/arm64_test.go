package cpu_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// Dot products of Arm's instructions, as QEMU computes them, have the bits of
// the emulation: the tests of dot products and of difficult matrices pass
// there. Not every QEMU has all of them: SME is there from 7.1 on, FPCR.EBF
// from 9.1 on.
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
	cmd := exec.Command("go", "test", "-count=1", "-v", "-short", "-exec", "qemu-aarch64-static",
		"-run", "^(TestDots|TestGEMM_of_difficult_matrices)$/^arm-(bfdot|bfmmla|bfmopa|fmopa)", ".")
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text := string(out)
	switch {
	case strings.Contains(text, "--- SKIP: TestDots "):
		t.Skip("this QEMU has no BFDOT")
	case !strings.Contains(text, "--- PASS: TestDots/arm-bfdot-bfloat16-binary32"):
		t.Errorf("no dot product of BFDOT was compared:\n%s", text)
	}
	for _, d := range []tcore.Device{devices.ArmMMLABF16(), devices.ArmMOPABF16(), devices.ArmEBF16(), devices.ArmMMLAEBF16(), devices.ArmMOPAEBF16(), devices.ArmMOPAF16()} {
		t.Run(d.Name, func(t *testing.T) {
			for _, test := range []string{"TestDots", "TestGEMM_of_difficult_matrices"} {
				switch name := test + "/" + d.Name; {
				case !strings.Contains(text, "=== RUN   "+name):
					t.Skip("this QEMU does not have it")
				case !strings.Contains(text, "--- PASS: "+name):
					t.Errorf("%s did not pass:\n%s", name, text)
				}
			}
		})
	}
}
