//go:build cgo && linux

package cuda

/*
#include "api.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"
)

// NewStream makes a stream.
func (d *Device) NewStream() (Stream, error) {
	const nonBlocking = 1
	var s Stream
	err := cuResult(C.call_cuStreamCreate(&s.p, nonBlocking), "cuStreamCreate", "")
	return s, made(err, s.p, "cuStreamCreate")
}

// Sync waits until the stream has completed all its operations.
func (s Stream) Sync() error {
	return cuResult(C.call_cuStreamSynchronize(s.p), "cuStreamSynchronize", "")
}

// Destroy frees the stream.
func (s Stream) Destroy() error {
	return cuResult(C.call_cuStreamDestroy_v2(s.p), "cuStreamDestroy", "")
}

// NewEvent makes an event.
func (d *Device) NewEvent() (Event, error) {
	var e Event
	err := cuResult(C.call_cuEventCreate(&e.p, 0), "cuEventCreate", "")
	return e, made(err, e.p, "cuEventCreate")
}

// Record enqueues the event in a stream.
func (e Event) Record(s Stream) error {
	return cuResult(C.call_cuEventRecord(e.p, s.p), "cuEventRecord", "")
}

// Since returns the time from event start to event e, on the device's clock.
// Their stream must have reached both. A time that no work can take, of at most
// 0 or more than 10⁹ ms, is an error.
func (e Event) Since(start Event) (time.Duration, error) {
	var ms C.float
	err := cuResult(C.call_cuEventElapsedTime(&ms, start.p, e.p), "cuEventElapsedTime", "")
	if err == nil && !(ms > 0 && ms <= 1e9) { // more than eleven days
		err = fmt.Errorf("cuEventElapsedTime says %v ms", float32(ms))
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Destroy frees the event.
func (e Event) Destroy() error {
	return cuResult(C.call_cuEventDestroy_v2(e.p), "cuEventDestroy", "")
}

// LoadModule loads code, PTX or a cubin.
func (d *Device) LoadModule(image []byte) (Module, error) {
	text := C.CBytes(append(append([]byte(nil), image...), 0)) // PTX ends with a zero
	defer C.free(text)
	var m Module
	err := cuResult(C.call_cuModuleLoadData(&m.p, text), "cuModuleLoadData", "%d bytes", len(image))
	return m, made(err, m.p, "cuModuleLoadData")
}

// Function returns the kernel with the given name.
func (m Module) Function(name string) (Function, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var f Function
	err := cuResult(C.call_cuModuleGetFunction(&f.p, m.p, text), "cuModuleGetFunction", "%s", name)
	return f, made(err, f.p, "cuModuleGetFunction")
}

// Unload frees the module.
func (m Module) Unload() error {
	return cuResult(C.call_cuModuleUnload(m.p), "cuModuleUnload", "")
}

// Launch enqueues a kernel in a stream. Every argument must have the type that
// the kernel declares: Ptr, int32, uint32, uint64 or float32. It panics for an
// argument of another type.
func (d *Device) Launch(f Function, grid, block [3]int, shared int, s Stream, args ...any) error {
	n := C.size_t(max(len(args), 1))
	values := unsafe.Slice((*uint64)(C.calloc(n, 8)), n)
	pointers := unsafe.Slice((*unsafe.Pointer)(C.calloc(n, C.size_t(unsafe.Sizeof(uintptr(0))))), n)
	defer C.free(unsafe.Pointer(unsafe.SliceData(values)))
	defer C.free(unsafe.Pointer(unsafe.SliceData(pointers)))
	for i, arg := range args {
		pointers[i] = unsafe.Pointer(&values[i])
		switch v := arg.(type) {
		case Ptr:
			values[i] = uint64(v)
		case uint64:
			values[i] = v
		case int32:
			*(*int32)(pointers[i]) = v
		case uint32:
			*(*uint32)(pointers[i]) = v
		case float32:
			*(*float32)(pointers[i]) = v
		default:
			panic(fmt.Sprintf("cuda: Launch: argument %d is a %T, want a Ptr, int32, uint32, uint64 or float32", i, arg))
		}
	}
	code := C.call_cuLaunchKernel(f.p, C.uint(grid[0]), C.uint(grid[1]), C.uint(grid[2]),
		C.uint(block[0]), C.uint(block[1]), C.uint(block[2]), C.uint(shared), s.p, unsafe.SliceData(pointers), nil)
	return cuResult(code, "cuLaunchKernel", "grid %v, block %v, %d bytes shared", grid, block, shared)
}
