//go:build unix

// Package cputime tells the processor time of a program, and how fast products
// are, for benchmarks.
package cputime

import (
	"syscall"
	"time"
)

// Spent returns the time that processors have spent on this program,
// which other programs hardly change.
func Spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
