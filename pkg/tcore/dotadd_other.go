//go:build !amd64

package tcore

func dotAddKernelFor(terms int, half bool) (k dotAddKernel, ok bool) { return k, false }
