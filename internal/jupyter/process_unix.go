//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

// group makes cmd the leader of a process group of its own, so that all that it
// starts can be signalled with it, and a Ctrl-C in the terminal does not reach
// it behind our back.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// The signals go to every process of the group that cmd leads; that none is
// left is no error.

func interrupt(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGINT) }
func terminate(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGTERM) }
func kill(cmd *exec.Cmd) error      { return signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	if err := syscall.Kill(-cmd.Process.Pid, s); err != syscall.ESRCH {
		return err
	}
	return nil
}
