//go:build cgo && linux

package cuda

/*
#cgo LDFLAGS: -ldl
#include "api.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// loaded contains the paths of the open libraries, by name. An open library
// stays open; one that was not found is searched for again at the next use.
var (
	loadLock sync.Mutex
	loaded   = map[string]string{}
	driver   int // the version of CUDA that the driver supports; 0 before it is known
)

var indexes = map[string]C.int{
	libcuda.name: C.lib_cuda, libcublas.name: C.lib_cublas,
	libcublasLt.name: C.lib_cublasLt, libnvrtc.name: C.lib_nvrtc,
}

// load opens the library, unless it is open, and finds its functions. The error
// is a *NotFoundError.
func (l library) load() error {
	loadLock.Lock()
	defer loadLock.Unlock()
	if loaded[l.name] != "" {
		return nil
	}
	paths, absent := l.present(os.Getenv)
	var tried []string
	for _, path := range paths {
		wrong := tooNew(path, driver)
		if wrong == "" {
			wrong = l.open(path)
		}
		if wrong == "" {
			loaded[l.name] = path
			return nil
		}
		tried = append(tried, fmt.Sprintf("%s (%s)", path, wrong))
	}
	if len(absent) > 0 {
		tried = append(tried, "and, where there is none: "+strings.Join(absent, ", "))
	}
	return &NotFoundError{Library: l.name, Tried: tried}
}

// open opens one file. It returns the reason if the file cannot be used,
// otherwise "".
func (l library) open(path string) (wrong string) {
	if wrong := broken(path); wrong != "" {
		return wrong
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var text [1024]C.char
	if C.ro_open(indexes[l.name], name, &text[0], C.size_t(len(text))) == 1 {
		return ""
	}
	return strings.TrimPrefix(C.GoString(&text[0]), path+": ")
}

// path returns the path of the open library, or "" if it is not open.
func (l library) path() string {
	loadLock.Lock()
	defer loadLock.Unlock()
	return loaded[l.name]
}
