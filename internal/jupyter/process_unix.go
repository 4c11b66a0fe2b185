//go:build unix

package jupyter

import (
	"os/exec"
	"syscall"
)

// group makes cmd the leader of a new process group. A signal to the group
// reaches all processes that cmd starts, and a Ctrl-C in the terminal does not
// reach them.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// The signals are sent to every process of the group that cmd leads. It is not
// an error if no process is left.

func interrupt(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGINT) }
func terminate(cmd *exec.Cmd) error { return signalGroup(cmd, syscall.SIGTERM) }
func kill(cmd *exec.Cmd) error      { return signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	if err := syscall.Kill(-cmd.Process.Pid, s); err != syscall.ESRCH {
		return err
	}
	return nil
}
