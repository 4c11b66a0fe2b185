//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "libroundoff: a library in C is built with cgo, CGO_ENABLED=1, and -buildmode=c-shared")
	os.Exit(1)
}
