//go:build !cgo || !linux

package foreign

import "errors"

// Dot returns an error.
func Dot(string, string) (func(x, y []uint64, c uint64) uint64, error) {
	return nil, errors.New("this build has no cgo, or is not for Linux: it opens no shared library")
}
