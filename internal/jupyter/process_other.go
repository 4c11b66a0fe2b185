//go:build !unix

package jupyter

import (
	"errors"
	"os"
	"os/exec"
)

// Without process groups only the kernel itself can be ended, not the processes
// that it started.

func group(cmd *exec.Cmd) {}

func interrupt(cmd *exec.Cmd) error { return errors.New("jupyter: no interrupt signal on this system") }
func terminate(cmd *exec.Cmd) error { return kill(cmd) }

func kill(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
