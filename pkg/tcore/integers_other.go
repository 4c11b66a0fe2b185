//go:build !amd64

package tcore

func integerKernelFor() (k integerKernel, ok bool) { return k, false }
