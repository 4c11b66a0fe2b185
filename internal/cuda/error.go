package cuda

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoGPU is what errors wrap when there is no GPU to use: no driver, no
// device, a driver that is too old, or a build without cgo. It is a normal
// state.
var ErrNoGPU = errors.New("no NVIDIA GPU")

// A NotFoundError tells that a library, or a function in it, is not there.
type NotFoundError struct {
	Library string
	Tried   []string // what was tried, in order, each with what was wrong
}

func (e *NotFoundError) Error() string {
	s := e.Library + " not found; tried"
	for i, t := range e.Tried {
		if i > 0 {
			s += ","
		}
		s += " " + t
	}
	return s
}

// An Error is a call that did not return success.
type Error struct {
	Call string // the function, as in cuMemAlloc_v2
	Args string // what it was called with, sizes and shapes
	Code int
	Name string // of the code, as in CUDA_ERROR_OUT_OF_MEMORY
	Text string // what it means; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s(%s) returned %d, %s", e.Call, e.Args, e.Code, e.Name)
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Codes that callers look for.
const (
	OutOfMemory  = 2   // CUDA_ERROR_OUT_OF_MEMORY
	NoDevice     = 100 // CUDA_ERROR_NO_DEVICE
	NotSupported = 15  // CUBLAS_STATUS_NOT_SUPPORTED
)

// blasStatus are the codes of cublasStatus_t.
var blasStatus = map[int]string{
	1:  "CUBLAS_STATUS_NOT_INITIALIZED",
	3:  "CUBLAS_STATUS_ALLOC_FAILED",
	7:  "CUBLAS_STATUS_INVALID_VALUE",
	8:  "CUBLAS_STATUS_ARCH_MISMATCH",
	11: "CUBLAS_STATUS_MAPPING_ERROR",
	13: "CUBLAS_STATUS_EXECUTION_FAILED",
	14: "CUBLAS_STATUS_INTERNAL_ERROR",
	15: "CUBLAS_STATUS_NOT_SUPPORTED",
	16: "CUBLAS_STATUS_LICENSE_ERROR",
}

// printable returns the text of a library with what a terminal would not print
// as escapes, as in \x1b.
func printable(text string) string {
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// version writes 12040 as 12.4, and 120803, as cuBLAS has it, as 12.8.3. It
// says of a number that is none.
func version(v int) string {
	if v < 1000 || v >= 1_000_000 {
		return fmt.Sprintf("%d, which is no version", v)
	}
	if v >= 100000 {
		return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
	}
	if v%10 != 0 {
		return fmt.Sprintf("%d.%d.%d", v/1000, v%1000/100, v%100)
	}
	return fmt.Sprintf("%d.%d", v/1000, v%1000/10)
}
