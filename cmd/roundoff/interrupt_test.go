//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// interrupted starts a command line, sends it the signals after a second, the
// last of several again and again until it ends, and returns its exit status,
// its standard error, and how long it took to end.
func interrupted(t *testing.T, dir, line string, signals ...os.Signal) (status int, said string, took time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, strings.Fields(line)...)
	c.Dir, c.Env = dir, append(os.Environ(), "AS_COMMAND=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer limit.Stop()
	time.Sleep(time.Second)
	start := time.Now()
	for _, s := range signals {
		if err := c.Process.Signal(s); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-again.C:
			if n := len(signals); n > 1 { // on a busy machine it may not have seen the one before
				c.Process.Signal(signals[n-1])
			}
		}
	}
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		t.Fatalf("%s: it ended with %v before it was interrupted", line, err)
	}
	status = exit.ExitCode()
	if w := exit.Sys().(syscall.WaitStatus); w.Signaled() {
		status = -int(w.Signal())
	}
	return status, stderr.String(), time.Since(start)
}

// A signal ends every command at any point, and no file is left behind.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for twelve commands to be at work")
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.npy"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(dir)
	for _, line := range []string{
		"bound -run -m 2000 -n 2000 -k 5000 -dist U(0,1)",
		"bound -run pipe.npy pipe.npy",
		"gemm pipe.npy pipe.npy -o D.npy",
		"advise -tolerance 1 pipe.npy pipe.npy",
		"sweep -devices hopper -dist U(0,1) -k 180000 -m 100 -n 100 -o sweep.csv",
		"sweep -join pipe.npy",
		"sweep -hunt 10m",
	} {
		t.Run(strings.Fields(line)[0], func(t *testing.T) {
			status, said, took := interrupted(t, dir, line, os.Interrupt)
			if status != 130 || !strings.HasSuffix(said, "roundoff: interrupted\n") || took > 20*time.Second {
				t.Errorf("%s: status %d after %v, said %q", line, status, took, said)
			}
			if after, _ := os.ReadDir(dir); len(after) != len(before) {
				t.Errorf("%s left %v", line, after)
			}
		})
	}
	t.Run("by_any_signal_that_asks", func(t *testing.T) {
		for s, want := range map[os.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
			if status, said, _ := interrupted(t, dir, "gemm pipe.npy pipe.npy -o D.npy", s); status != want || !strings.Contains(said, "interrupted") {
				t.Errorf("%v: status %d, said %q", s, status, said)
			}
		}
	})
	t.Run("a_sweep_keeps_what_it_has", func(t *testing.T) {
		file := filepath.Join(dir, "sweep.csv")
		defer os.Remove(file)
		status, said, _ := interrupted(t, dir, "sweep -devices paper -dist U(0,1) -k 16,3900000 -m 9 -n 1 -o sweep.csv", os.Interrupt)
		data, err := os.ReadFile(file)
		if status != 130 || !strings.Contains(said, "sweep.csv contains the rows so far") || err != nil || !strings.Contains(string(data), ",16,") {
			t.Errorf("status %d, said %q, wrote %.300q, %v", status, said, data, err)
		}
	})
	t.Run("a_shard_keeps_what_it_has", func(t *testing.T) {
		file := filepath.Join(dir, "shard.csv")
		defer os.Remove(file)
		status, said, _ := interrupted(t, dir, "sweep -devices ieee -dist pairing -k 16,3900000 -m 9 -n 1 -seeds 1 -shard 1/1 -o shard.csv", syscall.SIGTERM)
		if draws := len(readPart(t, file).Draws); status != 143 || draws != 1 || !strings.Contains(said, "shard.csv has 1 draws and lacks 1, the same command goes on with them") {
			t.Errorf("status %d, said %q, %d draws", status, said, draws)
		}
	})
	t.Run("a_second_one_kills", func(t *testing.T) {
		status, _, took := interrupted(t, dir, "gemm pipe.npy pipe.npy -o D.npy", os.Interrupt, os.Interrupt)
		if status != -int(syscall.SIGINT) || took > time.Second {
			t.Errorf("status %d after %v", status, took)
		}
	})
}
