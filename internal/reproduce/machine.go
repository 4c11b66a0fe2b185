package reproduce

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// A Machine describes the computer on which results were computed.
type Machine struct {
	CPU      string // name of the processor, or the architecture if the name is not known
	Cores    int
	System   string // "linux/amd64"
	Go       string // version of Go
	Revision string // of the git repository; ends in "-dirty" if files were changed
}

// ThisMachine returns the description of this computer and of the git
// repository that contains the folder dir.
func ThisMachine(dir string) Machine {
	return Machine{
		CPU:      cpu(),
		Cores:    runtime.NumCPU(),
		System:   runtime.GOOS + "/" + runtime.GOARCH,
		Go:       runtime.Version(),
		Revision: output("git", "-C", dir, "describe", "--always", "--dirty", "--abbrev=12"),
	}
}

// cpu returns the name of the processor.
func cpu() string {
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	if runtime.GOOS == "darwin" {
		return output("sysctl", "-n", "machdep.cpu.brand_string")
	}
	return runtime.GOARCH
}

// output returns the standard output of a command, or "unknown" if it fails or
// prints nothing.
func output(name string, args ...string) string {
	b, err := exec.Command(name, args...).Output()
	if s := strings.TrimSpace(string(b)); err == nil && s != "" {
		return s
	}
	return "unknown"
}
