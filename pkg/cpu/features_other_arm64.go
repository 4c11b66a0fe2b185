//go:build !linux

package cpu

// missing returns that instructions that need a feature are used on Linux
// alone.
func (f feature) missing() string { return f.name + " is used on Linux alone" }
