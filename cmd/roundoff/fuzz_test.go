//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/cuda/cudatest"
)

// Limits on a command line in FuzzCommandLine: resident memory; address space,
// so that a process that takes too much ends itself before the machine runs
// out; the time before it is interrupted; and the time to end after that.
const (
	mostResident = 1 << 30
	mostAddress  = 4 << 30
	patience     = 400 * time.Millisecond
	lastGrace    = 7 * time.Second // of the ten that a fuzz target has
)

// FuzzCommandLine runs command lines in their own processes. Each must succeed
// or be refused: without a Go stack trace, in a gigabyte of memory, without
// leaving files that it was not asked for, and with an end soon after an
// interrupt.
func FuzzCommandLine(f *testing.F) {
	if testing.Short() {
		f.Skip("it starts a hundred processes")
	}
	fake := f.TempDir()
	if err := cudatest.Build(fake); err != nil && !errors.Is(err, cudatest.ErrNoFake) {
		f.Fatal(err)
	}
	f.Setenv("ROUNDOFF_CUDA_PATH", fake)
	made := makeFiles(f)
	for i := range rows {
		f.Add(uint(i), uint64(0))
	}
	f.Fuzz(func(t *testing.T, row uint, edit uint64) {
		line := edited(strings.Fields(rows[row%uint(len(rows))]), edit)
		dir := t.TempDir()
		made.write(t, dir)
		before := listed(t, dir)
		if complaint := try(t, dir, line).complaint(); complaint != "" {
			t.Errorf("roundoff %.2000q: %s", line, complaint)
		}
		for _, name := range listed(t, dir) {
			if !slices.Contains(before, name) && !asked(line, name) {
				t.Errorf("roundoff %.2000q left %s", line, name)
			}
		}
	})
}

// An ending is how a command line ended.
type ending struct {
	state  *os.ProcessState
	asked  bool // it was interrupted
	killed bool // it did not end after that
	said   string
}

// try runs a command line in a folder, interrupts it after a moment, and kills
// it if it does not end.
func try(t *testing.T, dir string, line []string) ending {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready, begun, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	var stderr bytes.Buffer
	c := exec.Command(self, line...)
	c.Dir, c.Stderr, c.ExtraFiles = dir, &stderr, []*os.File{begun}
	c.Env = append(os.Environ(), "AS_COMMAND=limited")
	err = c.Start()
	begun.Close()
	if err != nil {
		t.Skip(err) // for example, the line is too long for the system
	}
	ended := make(chan struct{})
	go func() {
		c.Wait()
		close(ended)
	}()
	io.ReadAll(ready) // wait until it has begun
	var e ending
	select {
	case <-ended:
	case <-time.After(patience):
		e.asked = true
		for end := time.Now().Add(lastGrace); !e.killed && !over(ended); {
			c.Process.Signal(os.Interrupt) // repeatedly, in case the first came too early
			select {
			case <-ended:
			case <-time.After(time.Second):
				e.killed = time.Now().After(end)
			}
		}
		if e.killed {
			c.Process.Kill()
		}
		<-ended
	}
	e.state, e.said = c.ProcessState, stderr.String()
	return e
}

// over reports whether a channel is closed.
func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// limited prepares the process of a tried command. It limits its address space
// on Linux (macOS enforces no such limit), ignores interrupts until the command
// handles them, and closes file 3 to report that it begins.
func limited() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	limit := syscall.Rlimit{Cur: mostAddress, Max: mostAddress}
	if runtime.GOOS == "linux" {
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			panic(err)
		}
	}
	os.NewFile(3, "begun").Close()
}

// trace matches what Go prints when a program fails, and what no error message
// may contain.
var trace = regexp.MustCompile(`(?m)^goroutine \d|^panic:|^fatal error:|^SIG[A-Z]+:|runtime error|strconv\.|%!`)

// complaint returns what is wrong with an ending, "" if nothing is.
func (e ending) complaint() string {
	status := e.state.ExitCode()
	resident := e.state.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" {
		resident *= 1 << 10
	}
	switch {
	case e.killed:
		return fmt.Sprintf("it went on for %v after an interrupt, and said %.2000s", lastGrace, e.said)
	case trace.MatchString(e.said):
		return fmt.Sprintf("it said %.4000s", e.said)
	case !(0 <= status && status <= 3 || e.asked && status == 130):
		return fmt.Sprintf("%v, want status 0 to 3, or 130 after an interrupt; it said %.2000s", e.state, e.said)
	case status != 0 && e.said == "":
		return fmt.Sprintf("%v without a word", e.state)
	case resident > mostResident:
		return fmt.Sprintf("it took %d MiB of memory, and said %.2000s", resident>>20, e.said)
	}
	return ""
}

// listed returns the relative paths of everything in a folder.
func listed(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir+"/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// asked reports whether a command line names the file. It is never true of a
// name that begins with a dot, the form of temporary files.
func asked(line []string, name string) bool {
	if strings.HasPrefix(filepath.Base(name), ".") {
		return false
	}
	return slices.ContainsFunc(line, func(word string) bool {
		_, value, _ := strings.Cut(word, "=")
		return tells(word, name) || tells(value, name)
	})
}

// tells reports whether a word is the path of the file, of a folder that
// contains it, of something in it, or of a link to it.
func tells(word, name string) bool {
	if word == "" {
		return false
	}
	word = filepath.Clean(word)
	return word == "." || word == "dangling" && name == target || strings.HasPrefix(name+"/", word+"/") || strings.HasPrefix(word, name+"/")
}
