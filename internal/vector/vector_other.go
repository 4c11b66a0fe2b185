//go:build !amd64

package vector

// Bits returns 0: there is only Go.
func Bits() int { return 0 }
