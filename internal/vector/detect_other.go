//go:build !amd64 && !arm64

package vector

// Detect returns no features: on this architecture there is only code in Go.
func Detect() Features { return Features{} }
