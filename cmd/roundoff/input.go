package main

import (
	"fmt"
	"io"
	"os"
)

// readFile reads a file, or a pipe or device, that must begin with the bytes
// begins and have at most most bytes. Errors describe the file that is wanted
// by what.
func readFile(path, begins string, most int64, what string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	status, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if status.Mode().IsRegular() && status.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, want %s of at most %d", path, status.Size(), what, most)
	}
	data := make([]byte, len(begins))
	if _, err := io.ReadFull(f, data); string(data) != begins {
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		return nil, fmt.Errorf("%s: not %s", path, what)
	}
	rest, err := io.ReadAll(io.LimitReader(f, most+1-int64(len(begins))))
	if err != nil {
		return nil, err
	}
	data = append(data, rest...)
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s does not end after %d bytes, want %s", path, most, what)
	}
	return data, nil
}
