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

// BLAS contains the handles of cuBLAS and cuBLASLt on a device.
type BLAS struct {
	handle, lt unsafe.Pointer
}

func blasResult(code C.int, call, args string, values ...any) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Args: fmt.Sprintf(args, values...), Code: int(code), Name: blasStatus[int(code)]}
	if e.Name == "" {
		e.Name = "an unknown status"
	}
	if text := C.call_cublasGetStatusString(code); text != nil {
		e.Text = printable(C.GoString(text))
	}
	return e
}

// loadBLAS opens both libraries, cuBLASLt first: cuBLAS depends on it and then
// finds it open.
func loadBLAS() error {
	return errors.Join(libcublasLt.load(), libcublas.load())
}

// NewBLAS opens cuBLAS and cuBLASLt and makes a handle of each.
func (d *Device) NewBLAS() (*BLAS, error) {
	if err := loadBLAS(); err != nil {
		return nil, err
	}
	b := &BLAS{}
	if err := made(blasResult(C.call_cublasCreate_v2(&b.handle), "cublasCreate", ""), b.handle, "cublasCreate"); err != nil {
		return nil, err
	}
	if err := made(blasResult(C.call_cublasLtCreate(&b.lt), "cublasLtCreate", ""), b.lt, "cublasLtCreate"); err != nil {
		return nil, errors.Join(err, blasResult(C.call_cublasDestroy_v2(b.handle), "cublasDestroy", ""))
	}
	return b, nil
}

// Destroy frees both handles.
func (b *BLAS) Destroy() error {
	return errors.Join(
		blasResult(C.call_cublasLtDestroy(b.lt), "cublasLtDestroy", ""),
		blasResult(C.call_cublasDestroy_v2(b.handle), "cublasDestroy", ""))
}

// blasLoaded returns the version of cuBLAS, which can only be read with a
// handle.
func (d *Device) blasLoaded() Loaded {
	l := Loaded{Name: libcublas.name}
	if l.Err = loadBLAS(); l.Err != nil {
		return l
	}
	l.Path = libcublas.path()
	l.Err = d.Do(func() error {
		b, err := d.NewBLAS()
		if err != nil {
			return err
		}
		var v C.int
		err = blasResult(C.call_cublasGetVersion_v2(b.handle, &v), "cublasGetVersion", "")
		l.Version = version(int(v))
		return errors.Join(err, b.Destroy())
	})
	return l
}

func ltLoaded() Loaded {
	l := Loaded{Name: libcublasLt.name}
	if l.Err = libcublasLt.load(); l.Err == nil {
		l.Path, l.Version = libcublasLt.path(), version(int(C.call_cublasLtGetVersion()))
	}
	return l
}

// GemmEx computes p with the algorithm that cuBLAS chooses for tensor cores, as
// cublasGemmEx does by CUBLAS_GEMM_DEFAULT_TENSOR_OP.
func (b *BLAS) GemmEx(p Product, x, y, z, workspace Ptr, size int, s Stream) error {
	const defaultTensorOp = 99
	if err := blasResult(C.call_cublasSetStream_v2(b.handle, s.p), "cublasSetStream", ""); err != nil {
		return err
	}
	code := C.call_cublasSetWorkspace_v2(b.handle, pointer(workspace), C.size_t(size))
	if err := blasResult(code, "cublasSetWorkspace", "%d bytes", size); err != nil {
		return err
	}
	alpha, beta := p.Alpha, p.Beta
	code = C.call_cublasGemmEx(b.handle, operation(p.TransA), operation(p.TransB), C.int(p.M), C.int(p.N), C.int(p.K),
		unsafe.Pointer(&alpha), pointer(x), C.int(p.A), C.int(p.LDA), pointer(y), C.int(p.B), C.int(p.LDB),
		unsafe.Pointer(&beta), pointer(z), C.int(p.D), C.int(p.LDD), C.int(p.Compute), defaultTensorOp)
	return blasResult(code, "cublasGemmEx", "%v", p)
}

func operation(transposed bool) C.int {
	if transposed {
		return 1
	}
	return 0
}

// pointer returns an address in device memory as a pointer of C.
func pointer(p Ptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}
