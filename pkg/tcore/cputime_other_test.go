//go:build !unix

package tcore

import "time"

var start = time.Now()

// processorTime returns the time since the program started.
func processorTime() time.Duration { return time.Since(start) }
