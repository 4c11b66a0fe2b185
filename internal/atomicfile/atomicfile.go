// Package atomicfile writes files whole or not at all, on every system that Go
// knows. Whoever opens a file while it is written sees the old one.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A File is a temporary file that takes the place of another when it is
// committed. It lies in the same folder: only there can one rename do it.
type File struct {
	*os.File
	path string
	done bool
}

// WriteFile writes data to the file at path. The permissions are those of the
// file that it replaces, or 0644 less the umask. A symbolic link is replaced,
// not followed.
func WriteFile(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// Create returns an empty file that will be at path, with the permissions that
// WriteFile gives. Either Commit or Discard must be called.
func Create(path string) (*File, error) {
	status, err := os.Lstat(path)
	replaces := err == nil && status.Mode().IsRegular()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := createBeside(path)
	if err != nil {
		return nil, err
	}
	if replaces {
		if err := f.Chmod(status.Mode().Perm()); err != nil {
			return nil, errors.Join(err, f.Discard())
		}
	}
	return f, nil
}

// createBeside returns a new file in the folder of path. Unlike that of
// os.CreateTemp everybody may read it, unless the umask forbids.
func createBeside(path string) (*File, error) {
	for {
		name := fmt.Sprintf(".%s.%d", filepath.Base(path), rand.Uint64())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return &File{File: f, path: path}, err
		}
	}
}

// Commit puts the file in its place. It returns an error, and leaves what was
// there, if not everything is on the disk.
func (f *File) Commit() (err error) {
	defer func() {
		if err != nil {
			f.Discard()
		}
	}()
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil { // Windows renames no file that is open
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	return nil
}

// Discard removes a file that was not committed. After Commit has succeeded it
// does nothing.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	f.done = true
	f.Close() // an error when Commit has closed it
	return os.Remove(f.Name())
}
