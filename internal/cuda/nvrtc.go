//go:build cgo && linux

package cuda

/*
#include "api.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

func nvrtcResult(code C.int, call, args string, values ...any) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Args: fmt.Sprintf(args, values...), Code: int(code), Name: "an unknown code"}
	if text := C.call_nvrtcGetErrorString(code); text != nil {
		e.Name = C.GoString(text)
	}
	return e
}

func nvrtcLoaded() Loaded {
	l := Loaded{Name: libnvrtc.name}
	if l.Err = libnvrtc.load(); l.Err != nil {
		return l
	}
	var major, minor C.int
	l.Path = libnvrtc.path()
	l.Err = nvrtcResult(C.call_nvrtcVersion(&major, &minor), "nvrtcVersion", "")
	l.Version = fmt.Sprintf("%d.%d", major, minor)
	return l
}

// Compile compiles CUDA C++ to PTX, with options such as
// --gpu-architecture=compute_90a. If the source does not compile, the error
// contains the messages of the compiler.
func Compile(source, name string, options ...string) (ptx []byte, err error) {
	if err := libnvrtc.load(); err != nil {
		return nil, err
	}
	text, file := C.CString(source), C.CString(name)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(file))
	var program unsafe.Pointer
	code := C.call_nvrtcCreateProgram(&program, text, file, 0, nil, nil)
	err = nvrtcResult(code, "nvrtcCreateProgram", "%s", name)
	if err := made(err, program, "nvrtcCreateProgram"); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, nvrtcResult(C.call_nvrtcDestroyProgram(&program), "nvrtcDestroyProgram", "%s", name))
	}()

	n := len(options)
	list := unsafe.Slice((**C.char)(C.calloc(C.size_t(n+1), C.size_t(unsafe.Sizeof(uintptr(0))))), n+1)
	defer C.free(unsafe.Pointer(unsafe.SliceData(list)))
	for i, option := range options {
		list[i] = C.CString(option)
		defer C.free(unsafe.Pointer(list[i]))
	}
	code = C.call_nvrtcCompileProgram(program, C.int(n), unsafe.SliceData(list))
	if err := nvrtcResult(code, "nvrtcCompileProgram", "%s, %q", name, options); err != nil {
		log, logErr := compilerLog(program)
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, log), logErr)
	}

	var size C.size_t
	if err := nvrtcResult(C.call_nvrtcGetPTXSize(program, &size), "nvrtcGetPTXSize", "%s", name); err != nil {
		return nil, err
	}
	return written(size, func(p *C.char) error { return nvrtcResult(C.call_nvrtcGetPTX(program, p), "nvrtcGetPTX", "%s", name) })
}

func compilerLog(program unsafe.Pointer) ([]byte, error) {
	var size C.size_t
	if err := nvrtcResult(C.call_nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize", ""); err != nil {
		return nil, err
	}
	return written(size, func(p *C.char) error {
		return nvrtcResult(C.call_nvrtcGetProgramLog(program, p), "nvrtcGetProgramLog", "")
	})
}

// written returns the text that get writes. Size is its length in bytes with
// the final zero, at most 1 GB.
func written(size C.size_t, get func(*C.char) error) ([]byte, error) {
	const most = 1 << 30
	if size < 1 || size > most {
		return nil, fmt.Errorf("the compiler says that it wrote %d bytes, want 1 to %d", uint64(size), most)
	}
	p := C.calloc(size, 1)
	defer C.free(p)
	if err := get((*C.char)(p)); err != nil {
		return nil, err
	}
	return []byte(C.GoString((*C.char)(p))), nil
}
