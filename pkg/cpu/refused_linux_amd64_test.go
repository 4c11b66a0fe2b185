package cpu_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/roundofflab/roundoff/pkg/cpu"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tcore/tcoretest"
	"golang.org/x/sys/unix"
)

// refuseTiles has the kernel answer EPERM whenever this process asks for tiles,
// as a sandbox may. It cannot be taken back.
func refuseTiles() error {
	const loadWord, ifEqual, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	const requestPermission = 0x1023
	program := []unix.SockFilter{
		{Code: loadWord, K: 0}, // of a seccomp_data: the number of the call
		{Code: ifEqual, K: unix.SYS_ARCH_PRCTL, Jf: 3},
		{Code: loadWord, K: 16}, // the low half of its first argument
		{Code: ifEqual, K: requestPermission, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}

// Where the kernel refuses tiles, Open says so for every instruction on tiles
// of a processor that has them, and the others compute as before.
func TestOpen_of_tiles_that_the_kernel_refuses(t *testing.T) {
	const refused = 75
	if os.Getenv("CPU_TEST_REFUSED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOpen_of_tiles_that_the_kernel_refuses$", "-test.v")
		cmd.Env = append(os.Environ(), "CPU_TEST_REFUSED=1")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == refused {
			t.Skipf("no filter of system calls here: %s", out)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := refuseTiles(); err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(refused)
	}
	for _, d := range append(devices.Integers(), devices.AMXBF16()) {
		u, err := cpu.Open(d)
		if u != nil || !errors.Is(err, cpu.ErrNoMatrixUnit) {
			t.Fatalf("%s: %v, want none", d.Name, err)
		}
		if says := err.Error(); !strings.Contains(says, "this processor has no AMX") &&
			!strings.Contains(says, "the kernel lets no process use tiles (operation not permitted)") {
			t.Errorf("%s: %s, want that the kernel refuses", d.Name, says)
		}
	}
	if list := cpu.Integers(); len(list) > 0 {
		t.Errorf("%d instructions of integers, want none", len(list))
	}
	for _, d := range cpu.Instructions() {
		if strings.Contains(d.Name, "-tdp") {
			t.Errorf("%s can be used, want that it cannot", d.Name)
			continue
		}
		u, err := cpu.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(d.Name, func(t *testing.T) { tcoretest.GEMMer(t, u, tcore.Machine{Device: d}) })
	}
}
