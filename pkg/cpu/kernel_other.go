//go:build !amd64 && !arm64

package cpu

// kernels are none on this architecture.
var kernels []kernel
