//go:build !amd64

package tcore

func groupKernelFor(size int) (groupKernel, bool) { return groupKernel{}, false }
