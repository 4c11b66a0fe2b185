//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// readFile reads an input of the maximal length and refuses one that is a byte
// longer: a file before reading it, and a pipe at the first byte too many.
func TestReadFile_of_most_bytes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ written, want string }{
		{"magic67890", ""},
		{"magic678901", "bytes"},
		{"magic", ""},
		{"magi", "not a number of magic"},
		{"Magic67890", "not a number of magic"},
	} {
		if err := os.WriteFile("file", []byte(c.written), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove("pipe")
		if err := syscall.Mkfifo("pipe", 0o600); err != nil {
			t.Fatal(err)
		}
		written := make(chan error)
		go func() { written <- os.WriteFile("pipe", []byte(c.written), 0o600) }()
		for _, path := range []string{"file", "pipe"} {
			data, err := readFile(path, "magic", 10, "a number of magic")
			switch {
			case c.want == "" && (err != nil || string(data) != c.written):
				t.Errorf("%s of %q: %q, %v", path, c.written, data, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s of %q: %q, %v, want an error with %q", path, c.written, data, err, c.want)
			}
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	}
}
