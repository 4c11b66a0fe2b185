//go:build !amd64

package tcore

func halfKernelFor() (k halfKernel, ok bool) { return k, false }
