package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// sorted returns the names of files in order.
func sorted(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// archives returns an archive of each program, by name: the program in a folder
// with the licences and the README.
func archives(name string, built []program, modules []module, date time.Time) (map[string][]byte, error) {
	notices, err := notices(modules)
	if err != nil {
		return nil, err
	}
	licence, err1 := os.ReadFile("LICENSE")
	readme, err2 := os.ReadFile("README.md")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, p := range built {
		files := map[string][]byte{"LICENSE": licence, "README.md": readme, "THIRD-PARTY-LICENSES": notices}
		pack, program, ending := tarball, "roundoff", ".tar.gz"
		if p.system == "windows" {
			pack, program, ending = zipped, "roundoff.exe", ".zip"
		}
		files[program] = p.data
		if all[name+"-"+p.system+"-"+p.architecture+ending], err = pack(name, program, files, date); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mode returns the permissions of a file in an archive.
func mode(name, program string) os.FileMode {
	if name == program {
		return 0o755
	}
	return 0o644
}

// tarball returns a .tar.gz of files in a folder, of which one is a program.
func tarball(folder, program string, files map[string][]byte, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range sorted(files) {
		h := &tar.Header{Name: folder + "/" + name, Mode: int64(mode(name, program)), Size: int64(len(files[name])), ModTime: date}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

// zipped returns a .zip of the same.
func zipped(folder, program string, files map[string][]byte, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, name := range sorted(files) {
		h := &zip.FileHeader{Name: folder + "/" + name, Method: zip.Deflate, Modified: date.UTC()}
		h.SetMode(mode(name, program))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
