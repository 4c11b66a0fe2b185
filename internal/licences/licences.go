// Package licences gathers the licences of what a program contains, which ask
// to be passed on with the program.
package licences

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Part is something that a program contains. Its folder has the source and
// the licence.
type Part struct{ Name, Version, Folder string }

// Notices returns the licences of all parts, each under a line that names its
// part and its file. It is an error if a part has none.
func Notices(parts []Part) ([]byte, error) {
	var b bytes.Buffer
	for _, p := range parts {
		files, err := find(p.Folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, _ := filepath.Rel(p.Folder, file)
			fmt.Fprintf(&b, "\n\n---- %s: %s\n\n%s\n", strings.TrimSpace(p.Name+" "+p.Version), filepath.ToSlash(name), bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}

// isLicence matches LICENSE, LICENSE-d3, license.txt or NOTICE.md, but no
// source such as license_test.go.
var isLicence = regexp.MustCompile(`(?i)^(licen[cs]es?|notice|copying|third_party_licenses)(-[a-z0-9.-]+)?(\.(txt|md|rst|lesser))?$`)

// find returns the files of a folder that are licences, or lie in a folder of
// licences, in order. It is an error if there are none.
func find(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case !isLicence.MatchString(e.Name()):
		case !e.IsDir():
			files = append(files, path)
		default:
			inside, err := filepath.Glob(filepath.Join(path, "*"))
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("no licence in " + folder)
	}
	return files, nil
}
