//go:build !amd64 && !arm64

package tcore

func dotAddKernelFor(kind dotAddKind) (k dotAddKernel, ok bool) { return k, false }
