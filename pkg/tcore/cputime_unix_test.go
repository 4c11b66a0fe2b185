//go:build unix

package tcore

import (
	"syscall"
	"time"
)

// processorTime returns the time that processors have spent on this program,
// which other programs hardly change.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
