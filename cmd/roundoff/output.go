package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
)

// An output is a file that a command writes whole or not at all. It is opened
// before the work whose result it is to hold. A file that there is keeps its
// permissions, and a link stays one to what it names; what is no regular file,
// as a pipe, is written into.
type output struct {
	path    string
	pending *renameio.PendingFile // nil for what is no regular file
}

// unfinished are the outputs that are open: what a command leaves behind that
// is ended in its work.
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
		f, err := os.OpenFile(target, os.O_WRONLY, 0) // may it be written at all?
		if err != nil {
			return nil, ofPath(path, err)
		}
		f.Close()
	}
	if o.pending, err = renameio.NewPendingFile(target, renameio.WithPermissions(0o644), renameio.WithExistingPermissions(),
		renameio.WithTempDir(filepath.Dir(target))); err != nil {
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

// follow returns what a path names in the end, through links, also where there
// is nothing yet.
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

// ofPath returns the error as one of this path, and not of a file that is only
// there for a while.
func ofPath(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return &fs.PathError{Op: of.Op, Path: path, Err: of.Err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// write writes the file with f and ends it.
func (o *output) write(f func(w io.Writer) error) error {
	defer o.drop()
	if o.pending != nil {
		if err := f(o.pending); err != nil {
			return ofPath(o.path, err)
		}
		if err := o.pending.CloseAtomicallyReplace(); err != nil {
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

// drop takes back an output that was not written, and does nothing after write.
func (o *output) drop() {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.outputs[o] {
		o.pending.Cleanup()
		delete(unfinished.outputs, o)
	}
}

// dropAll takes back all outputs that were not written.
func dropAll() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for o := range unfinished.outputs {
		o.pending.Cleanup()
		delete(unfinished.outputs, o)
	}
}
