//go:build !cgo || !linux

package cudatest

const possible = false
