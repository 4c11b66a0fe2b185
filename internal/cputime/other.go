//go:build !unix

package cputime

import "time"

var start = time.Now()

// Spent returns the time since the program started.
func Spent() time.Duration { return time.Since(start) }
