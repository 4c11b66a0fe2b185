//go:build !cgo || !linux

package gpu_test

import (
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/gpu"
)

// A machine without a GPU, or a build without cgo, is a normal state.
func ExampleOpen() {
	_, err := gpu.Open()
	fmt.Println(errors.Is(err, gpu.ErrNoGPU))
	// Output: true
}
