package cuda

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNoGPU is wrapped by errors if no GPU can be used: there is no driver,
// there is no device, the driver is too old or does not answer, or the program
// was built without cgo. This is a normal state.
var ErrNoGPU = errors.New("no NVIDIA GPU")

// A NotFoundError means that a library, or a function in it, was not found.
type NotFoundError struct {
	Library string
	Tried   []string // paths that were tried, in order, each with the reason why it failed
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

// An Error is a call of a library that did not succeed.
type Error struct {
	Call string // the function, such as cuMemAlloc
	Args string // its arguments: sizes and shapes
	Code int
	Name string // name of the code, such as CUDA_ERROR_OUT_OF_MEMORY
	Text string // explanation of the code; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s(%s) returned %d, %s", e.Call, e.Args, e.Code, e.Name)
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// ErrNotSupported is wrapped by errors of cuBLAS and cuBLASLt where they do not
// compute a product of these shapes, formats and layouts.
var ErrNotSupported = errors.New("not supported by the library")

// Is reports whether target is ErrNotSupported and the code says the same.
func (e *Error) Is(target error) bool {
	return target == ErrNotSupported && e.Code == NotSupported && strings.HasPrefix(e.Call, "cublas")
}

// Codes that callers test for.
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

// printable returns a text of a library in which characters that a terminal
// cannot print are written as escapes, such as \x1b.
func printable(text string) string {
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// version returns 12040 as "12.4" and 120803, the form of cuBLAS, as "12.8.3".
// If the number is not a version, the text says so.
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
