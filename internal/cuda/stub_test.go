//go:build !cgo || !linux

package cuda

import (
	"errors"
	"testing"
)

func TestStub_has_no_GPU(t *testing.T) {
	if d, err := Open(0); d != nil || !errors.Is(err, ErrNoGPU) {
		t.Errorf("Open: %v, %v, want an error that is ErrNoGPU", d, err)
	}
	if _, err := Compile("", ""); !errors.Is(err, ErrNoGPU) {
		t.Errorf("Compile: %v, want an error that is ErrNoGPU", err)
	}
}
