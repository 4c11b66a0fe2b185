// Package panics tests what calls panic with.
package panics

import (
	"fmt"
	"strings"
	"testing"
)

// Want fails unless the call panics with the message.
func Want(t testing.TB, message string, call func()) {
	t.Helper()
	if got := of(call); got != message {
		t.Errorf("panic %q, want %q", got, message)
	}
}

// WantPart fails unless the call panics with a message that contains the part.
func WantPart(t testing.TB, part string, call func()) {
	t.Helper()
	if got := of(call); !strings.Contains(got, part) {
		t.Errorf("panic %q, want one with %q", got, part)
	}
}

// of returns what the call panics with, or "<nil>".
func of(call func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	call()
	return ""
}
