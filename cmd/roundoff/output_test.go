//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// written opens an output, writes it, and returns the first error.
func written(path string, f func(io.Writer) error) error {
	o, err := newOutput(path)
	if err != nil {
		return err
	}
	return o.write(f)
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	only := func(t *testing.T, names ...string) {
		t.Helper()
		found, err := os.ReadDir(dir)
		if err != nil || len(found) != len(names) {
			t.Errorf("%v, %v, want %v", found, err, names)
		}
	}
	holds := func(t *testing.T, path, text string, mode os.FileMode) {
		t.Helper()
		data, err := os.ReadFile(path)
		status, _ := os.Lstat(path)
		if err != nil || string(data) != text || status.Mode() != mode {
			t.Errorf("%s holds %q, %v, %v, want %q, %v", path, data, status.Mode(), err, text, mode)
		}
	}
	if err := written(in("new"), put("a")); err != nil {
		t.Fatal(err)
	}
	holds(t, in("new"), "a", 0o644)
	only(t, "new")

	t.Run("keeps_permissions", func(t *testing.T) {
		if err := errors.Join(os.Chmod(in("new"), 0o600), written(in("new"), put("b"))); err != nil {
			t.Fatal(err)
		}
		holds(t, in("new"), "b", 0o600)
	})
	t.Run("follows_links", func(t *testing.T) {
		if err := errors.Join(os.Symlink("new", in("link")), os.Symlink("link", in("link2")), written(in("link2"), put("c"))); err != nil {
			t.Fatal(err)
		}
		holds(t, in("new"), "c", 0o600)
		if err := errors.Join(os.Symlink("later", in("dangling")), written(in("dangling"), put("d"))); err != nil {
			t.Fatal(err)
		}
		holds(t, in("later"), "d", 0o644)
		only(t, "new", "link", "link2", "dangling", "later")
		if err := errors.Join(os.Symlink("loop", in("loop"))); err != nil {
			t.Fatal(err)
		}
		if err := written(in("loop"), put("d")); err == nil || !strings.Contains(err.Error(), "too many links") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("writes_into_what_is_no_file", func(t *testing.T) {
		if err := written(os.DevNull, put("e")); err != nil {
			t.Error(err)
		}
		if status, err := os.Stat(os.DevNull); err != nil || status.Mode()&os.ModeCharDevice == 0 {
			t.Fatalf("%s is %v, %v", os.DevNull, status, err)
		}
		if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		read := make(chan string)
		go func() {
			data, _ := os.ReadFile(in("pipe"))
			read <- string(data)
		}()
		if err := written(in("pipe"), put("f")); err != nil {
			t.Error(err)
		}
		if got := <-read; got != "f" {
			t.Errorf("the pipe carried %q", got)
		}
		if _, err := os.Stat("/dev/full"); err == nil {
			if err := written("/dev/full", put("g")); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("error %v on a full device", err)
			}
		}
	})
	t.Run("says_what_is_wrong_of_the_path_given", func(t *testing.T) {
		for path, want := range map[string]string{dir: "is a folder", in("no/file"): in("no/file") + ": no such file", "": "no such file"} {
			if err := written(path, put("h")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want %q", path, err, want)
			}
		}
	})
	t.Run("leaves_nothing_when_it_is_not_written", func(t *testing.T) {
		before, _ := os.ReadDir(dir)
		if err := written(in("new"), func(w io.Writer) error { io.WriteString(w, "half"); return errors.New("no") }); err == nil {
			t.Error("no error")
		}
		for _, drop := range []func(*output){func(o *output) { o.drop() }, func(*output) { dropAll() }} {
			o, err := newOutput(in("new"))
			if err != nil {
				t.Fatal(err)
			}
			drop(o)
		}
		holds(t, in("new"), "c", 0o600)
		if after, _ := os.ReadDir(dir); len(after) != len(before) {
			t.Errorf("%v, want %v", after, before)
		}
	})
}
