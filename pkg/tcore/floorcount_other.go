//go:build !amd64

package tcore

func floorCountKernelFor() (k floorCountKernel, ok bool) { return k, false }
