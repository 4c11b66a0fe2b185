package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// An output is a file that a command writes either completely or not at all.
// The command opens it before it computes the contents. An existing file keeps
// its permissions, and a symbolic link stays a link to its target. A pipe or
// device is written directly.
type output struct {
	path    string
	pending *atomicfile.File // nil for a pipe or device
}

// unfinished are the open outputs, which must be removed if the command is
// interrupted.
var unfinished struct {
	sync.Mutex
	outputs map[*output]bool
}

// newOutput opens an output. The error names the path.
func newOutput(path string) (*output, error) {
	target, err := follow(path)
	if err != nil {
		return nil, err
	}
	o := &output{path: path}
	switch status, err := os.Stat(target); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, ofPath(path, err)
	case status.IsDir():
		return nil, fmt.Errorf("%s is a folder, want a file", path)
	case !status.Mode().IsRegular():
		return o, nil
	default:
		f, err := os.OpenFile(target, os.O_WRONLY, 0) // checks the permission to write
		if err != nil {
			return nil, ofPath(path, err)
		}
		f.Close()
	}
	if o.pending, err = atomicfile.Create(target); err != nil {
		return nil, ofPath(path, err)
	}
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.outputs == nil {
		unfinished.outputs = map[*output]bool{}
	}
	unfinished.outputs[o] = true
	return o, nil
}

// follow returns the target of a path after all symbolic links, whether it
// exists or not.
func follow(path string) (string, error) {
	target := path
	for range 40 {
		link, err := os.Readlink(target)
		if err != nil {
			return target, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(target), link)
		}
		target = link
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// ofPath returns the error with this path in place of that of the temporary
// file.
func ofPath(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return &fs.PathError{Op: of.Op, Path: path, Err: of.Err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// write writes the file with f and closes it.
func (o *output) write(f func(w io.Writer) error) error {
	defer o.drop()
	if o.pending != nil {
		if err := f(o.pending); err != nil {
			return ofPath(o.path, err)
		}
		if err := o.pending.Commit(); err != nil {
			return ofPath(o.path, err)
		}
		return nil
	}
	file, err := os.OpenFile(o.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f(file), file.Close()); err != nil {
		return ofPath(o.path, err)
	}
	return nil
}

// drop removes an output that was not written. It does nothing after write.
func (o *output) drop() {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.outputs[o] {
		o.pending.Discard()
		delete(unfinished.outputs, o)
	}
}

// dropAll removes all outputs that were not written.
func dropAll() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for o := range unfinished.outputs {
		o.pending.Discard()
		delete(unfinished.outputs, o)
	}
}
