package vector

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The levels begin with none, end with all features, and contain no feature
// that the processor lacks.
func TestLevels(t *testing.T) {
	for _, f := range []Features{{}, {Bits: 256}, {Bits: 512}, {Bits: 512, VNNI: true}, {Bits: 512, FP16: true}, {Bits: 512, VNNI: true, FP16: true}, {ASIMD: true}} {
		levels := f.Levels()
		if levels[0] != (Features{}) || levels[len(levels)-1] != f {
			t.Errorf("%v: levels are %v", f, levels)
		}
		for _, l := range levels {
			if l.Bits > f.Bits || l.VNNI && !f.VNNI || l.FP16 && !f.FP16 || l.ASIMD && !f.ASIMD {
				t.Errorf("%v: level %v has more", f, l)
			}
		}
		if n := len(slices.Compact(levels)); n != len(levels) {
			t.Errorf("%v: level twice in %v", f, levels)
		}
	}
}

// GODEBUG turns features off, each by its name.
func TestFeaturesCanBeTurnedOff(t *testing.T) {
	if os.Getenv("PRINT_FEATURES") != "" {
		os.Stdout.WriteString("features: " + Detect().String() + "\n")
		return
	}
	if strings.Contains(os.Getenv("GODEBUG"), "cpu.") {
		t.Skip("features are turned off already")
	}
	all := Detect()
	for setting, want := range map[string]Features{
		"cpu.avx2=off":       {ASIMD: all.ASIMD},
		"cpu.avx512f=off":    {Bits: min(all.Bits, 256), ASIMD: all.ASIMD},
		"cpu.avx512vnni=off": {Bits: all.Bits, FP16: all.FP16, ASIMD: all.ASIMD},
		"cpu.avx512fp16=off": {Bits: all.Bits, VNNI: all.VNNI, ASIMD: all.ASIMD},
		"cpu.asimd=off":      {Bits: all.Bits, VNNI: all.VNNI, FP16: all.FP16},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFeaturesCanBeTurnedOff$")
		cmd.Env = append(os.Environ(), "GODEBUG="+setting, "PRINT_FEATURES=1")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulator does not start programs")
		}
		if err != nil || !strings.Contains(string(out), "features: "+want.String()+"\n") {
			t.Errorf("with GODEBUG=%s: %s (%v), want %v", setting, out, err, want)
		}
	}
}
