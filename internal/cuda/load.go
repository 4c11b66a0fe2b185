//go:build cgo && linux

package cuda

/*
#cgo LDFLAGS: -ldl
#include "api.h"
#include <dlfcn.h>
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

// loaded are the paths of the libraries that are open, by name. A library that is open stays so; one
// that was not found is looked for again.
var (
	loadLock sync.Mutex
	loaded   = map[string]string{}
)

var indexes = map[string]C.int{
	libcuda.name: C.lib_cuda, libcublas.name: C.lib_cublas,
	libcublasLt.name: C.lib_cublasLt, libnvrtc.name: C.lib_nvrtc,
}

// load opens the library, if it is not open, and finds its functions. The error is a *NotFoundError.
func (l library) load() error {
	loadLock.Lock()
	defer loadLock.Unlock()
	if loaded[l.name] != "" {
		return nil
	}
	paths, absent := l.present(os.Getenv)
	var tried []string
	for _, path := range paths {
		wrong := l.open(path)
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

// open opens one file. It returns what is wrong with it, or "".
func (l library) open(path string) (wrong string) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		text := C.GoString(C.dlerror())
		return strings.TrimPrefix(text, path+": ")
	}
	if missing := C.ro_bind(indexes[l.name], handle); missing != nil {
		wrong = "has no " + C.GoString(missing)
		C.dlclose(handle)
	}
	return wrong
}

// path returns where the library was found, or "" if it is not open.
func (l library) path() string {
	loadLock.Lock()
	defer loadLock.Unlock()
	return loaded[l.name]
}
