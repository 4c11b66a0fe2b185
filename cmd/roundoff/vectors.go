package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/internal/tcvec"
)

// vectorsCommand checks files of test vectors against the devices that they
// name.
func vectorsCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("vectors", "check FOLDER ...\n\n"+
		"Runs every *.tcv.gz file below the folders against the device that its header names, and\n"+
		"fails if a result differs or a device is not supported.\n", stderr)
	words, err := parseFlags(flags, args)
	if err != nil {
		return err
	}
	if len(words) < 2 || words[0] != "check" {
		flags.Usage()
		return errUsage
	}
	return checkVectors(ctx, words[1:], stdout)
}

// checkVectors checks all files below the folders, and writes a line for each
// and then the totals. An error says that a file differs, is unsupported or
// cannot be read, or that nothing was graded.
func checkVectors(ctx context.Context, folders []string, w io.Writer) error {
	files, err := vectorFiles(folders)
	if err != nil {
		return err
	}
	var total tcvec.Tally
	unsupported, unreadable := 0, 0
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := checkFile(file)
		if err == nil && n.Rows == 0 {
			err = errors.New("it holds no rows")
		}
		var u *tcvec.UnsupportedError
		switch {
		case errors.As(err, &u):
			unsupported++
			fmt.Fprintf(w, "%s unsupported: %v\n", file, err)
		case err != nil:
			unreadable++
			fmt.Fprintf(w, "%s unreadable: %v\n", file, err)
		default:
			fmt.Fprintf(w, "%s %d %d\n", file, n.Graded, n.Mismatches)
		}
		total.Rows += n.Rows
		total.Graded += n.Graded
		total.Mismatches += n.Mismatches
	}
	fmt.Fprintf(w, "rows=%d graded=%d mismatches=%d unsupported=%d\n", total.Rows, total.Graded, total.Mismatches, unsupported)
	if total.Graded == 0 {
		return errors.New("nothing was graded")
	}
	if total.Mismatches+unsupported+unreadable > 0 {
		return fmt.Errorf("%d mismatches, %d files unsupported, %d unreadable", total.Mismatches, unsupported, unreadable)
	}
	return nil
}

// vectorFiles returns the *.tcv.gz files below the folders, in order. An error
// names a folder without any.
func vectorFiles(folders []string) ([]string, error) {
	var files []string
	for _, folder := range folders {
		before := len(files)
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".tcv.gz") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("no *.tcv.gz files below %s", folder)
		}
	}
	return files, nil
}

func checkFile(path string) (tcvec.Tally, error) {
	f, err := os.Open(path)
	if err != nil {
		return tcvec.Tally{}, err
	}
	defer f.Close()
	return tcvec.Check(f)
}
