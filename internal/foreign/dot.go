//go:build cgo && linux

// Package foreign calls a function of a shared library.
package foreign

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t (*dot)(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c);

static dot find(const char *file, const char *name, char *why, size_t n) {
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *f = library ? dlsym(library, name) : NULL;
	if (!f)
		snprintf(why, n, "%s", dlerror());
	return (dot)f;
}

static uint64_t call(dot f, size_t k, const uint64_t *x, const uint64_t *y, uint64_t c) { return f(k, x, y, c); }
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Dot returns a function of a shared library that computes dot products of
// codes, in C
//
//	uint64_t dot(size_t k, const uint64_t *x, const uint64_t *y, uint64_t c);
//
// with k codes at x and at y, as many as its arguments have. The library stays
// open. What it does wrong ends the program. The error says that there is no
// such library or function, or that this build opens none.
func Dot(file, name string) (func(x, y []uint64, c uint64) uint64, error) {
	cfile, cname := C.CString(file), C.CString(name)
	defer C.free(unsafe.Pointer(cfile))
	defer C.free(unsafe.Pointer(cname))
	var why [1024]C.char
	f := C.find(cfile, cname, &why[0], C.size_t(len(why)))
	if f == nil {
		return nil, errors.New(C.GoString(&why[0]))
	}
	return func(x, y []uint64, c uint64) uint64 {
		return uint64(C.call(f, C.size_t(len(x)), (*C.uint64_t)(unsafe.SliceData(x)), (*C.uint64_t)(unsafe.SliceData(y)), C.uint64_t(c)))
	}, nil
}
