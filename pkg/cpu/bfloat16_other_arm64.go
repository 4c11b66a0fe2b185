//go:build !linux

package cpu

// bfloat16Missing returns that BFDOT is used on Linux alone.
func bfloat16Missing() string { return "BFDOT is used on Linux alone" }
