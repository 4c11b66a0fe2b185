package vector

import "golang.org/x/sys/cpu"

// Detect returns the features of the processor, less that which GODEBUG turns
// off: cpu.asimd=off.
func Detect() Features { return Features{ASIMD: cpu.ARM64.HasASIMD} }
