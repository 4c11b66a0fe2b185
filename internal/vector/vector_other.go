//go:build !amd64

package vector

// Bits returns 0: on this architecture there is only code in Go.
func Bits() int { return 0 }
