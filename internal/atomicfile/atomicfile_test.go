package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// holds fails the test unless the folder of path has that file alone, with this
// text.
func holds(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != text {
		t.Errorf("the file holds %q, %v, want %q", data, err, text)
	}
	found, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(found) != 1 {
		t.Errorf("the folder holds %v, %v", found, err)
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first", "second", ""} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, text)
	}
}

// The old file is replaced, and not written into: what another name of it holds
// stays.
func TestWriteFileReplaces(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "other")
	if err := errors.Join(WriteFile(path, []byte("old")), os.Link(path, other), WriteFile(path, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	holds(t, other, "old")
}

func TestReadersSeeTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("before Commit: %q, %v", data, err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Errorf("Discard after Commit: %v", err)
	}
	holds(t, path, "new")
}

func TestDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half")
	if err := f.Discard(); err != nil {
		t.Error(err)
	}
	holds(t, path, "old")
}

// A folder cannot be replaced by a file: nothing may be left of the attempt.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "g"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x")); err == nil {
		t.Error("a folder has become a file")
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 1 {
		t.Errorf("the folder holds %v, %v", found, err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "f"), nil); err == nil {
		t.Error("a file in no folder")
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows knows one permission, to write")
	}
	path := filepath.Join(t.TempDir(), "f")
	for _, step := range []struct {
		before func() error
		want   os.FileMode
	}{
		{func() error { return WriteFile(path, nil) }, 0o644},
		{func() error { return os.Chmod(path, 0o600) }, 0o600},
		{func() error { return os.Chmod(path, 0o664) }, 0o664},
	} {
		if err := step.before(); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if status, err := os.Stat(path); err != nil || status.Mode() != step.want {
			t.Errorf("permissions %v, %v, want %v", status.Mode(), err, step.want)
		}
	}
}

// A Commit that fails leaves no temporary file.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	f.File.Close() // nothing can be made sure of
	if err := f.Commit(); err == nil {
		t.Error("a closed file was put in its place")
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 0 {
		t.Errorf("the folder holds %v, %v", found, err)
	}
}
