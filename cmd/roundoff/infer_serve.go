package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// libraryProgram returns the program, this one, that answers for a function of
// a shared library: in a process of its own, so that a library that crashes or
// hangs takes nothing with it.
func libraryProgram(file, function string, k int) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	if file, err = filepath.Abs(file); err != nil { // a name without a folder would be looked for elsewhere
		return nil, err
	}
	return []string{self, "infer", "--serve", "--library", file, "--function", function, "--k", strconv.Itoa(k)}, nil
}

// serve answers the questions that it reads, each a line as [infer.Command]
// writes it, with k factors of x, k of y and c.
func serve(dot func(x, y []uint64, c uint64) uint64, k int, r io.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64+2*17*(k+1))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) != 2*k+1 {
			return fmt.Errorf("line %d has %d codes, want %d of x, %[3]d of y and one of c", n, len(words), k)
		}
		codes := make([]uint64, len(words))
		for i, word := range words {
			var err error
			if codes[i], err = strconv.ParseUint(word, 16, 64); err != nil {
				return fmt.Errorf("line %d: %.40q is no code in hexadecimal", n, word)
			}
		}
		fmt.Fprintf(out, "%x\n", dot(codes[:k], codes[k:2*k], codes[2*k]))
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}
