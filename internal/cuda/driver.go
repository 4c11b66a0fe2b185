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
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// A Device is a GPU with its primary context.
type Device struct {
	lock    sync.Mutex
	ordinal C.int
	context unsafe.Pointer
	driver  int
}

// cuResult returns nil for success, otherwise an *Error.
func cuResult(code C.int, call, args string, values ...any) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Args: fmt.Sprintf(args, values...), Code: int(code), Name: "an unknown code"}
	var text *C.char
	if C.call_cuGetErrorName(code, &text) == 0 && text != nil {
		e.Name = printable(C.GoString(text))
	}
	text = nil
	if C.call_cuGetErrorString(code, &text) == 0 && text != nil {
		e.Text = printable(C.GoString(text))
	}
	return e
}

// made returns err if it is not nil. Otherwise it returns an error if a call
// that makes or finds an object succeeded but returned a null pointer.
func made(err error, p unsafe.Pointer, call string) error {
	if err == nil && p == nil {
		return fmt.Errorf("%s succeeded and gave nothing", call)
	}
	return err
}

// patience is the time that a driver is given to open a device.
var patience = time.Minute

// Open opens the device of that number, counted from 0. Every error wraps
// [ErrNoGPU]. It is an error if the driver does not answer within a minute.
func Open(ordinal int) (*Device, error) {
	type result struct {
		*Device
		error
	}
	C.ro_opening(1)
	defer C.ro_opening(-1)
	opened := make(chan result, 1)
	go func() {
		d, err := open(ordinal)
		opened <- result{d, err}
	}()
	select {
	case r := <-opened:
		if r.error != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoGPU, r.error)
		}
		return r.Device, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%w: the driver has not answered within %v", ErrNoGPU, patience)
	}
}

func open(ordinal int) (*Device, error) {
	if err := libcuda.load(); err != nil {
		return nil, err
	}
	var v, n C.int
	if err := cuResult(C.call_cuDriverGetVersion(&v), "cuDriverGetVersion", ""); err != nil {
		return nil, err
	}
	loadLock.Lock()
	driver = int(v)
	loadLock.Unlock()
	if v < MinimumDriver {
		return nil, fmt.Errorf("the driver in %s supports CUDA %s, want %s or later",
			libcuda.path(), version(int(v)), version(MinimumDriver))
	}
	if err := cuResult(C.call_cuInit(0), "cuInit", "0"); err != nil {
		return nil, err
	}
	if err := cuResult(C.call_cuDeviceGetCount(&n), "cuDeviceGetCount", ""); err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= int(n) {
		return nil, fmt.Errorf("no device %d, the driver has %d", ordinal, n)
	}
	d := &Device{driver: int(v)}
	if err := cuResult(C.call_cuDeviceGet(&d.ordinal, C.int(ordinal)), "cuDeviceGet", "%d", ordinal); err != nil {
		return nil, err
	}
	code := C.call_cuDevicePrimaryCtxRetain(&d.context, d.ordinal)
	err := cuResult(code, "cuDevicePrimaryCtxRetain", "device %d", ordinal)
	if err := made(err, d.context, "cuDevicePrimaryCtxRetain"); err != nil {
		return nil, err
	}
	return d, nil
}

// Close releases the context. Closing a second time does nothing.
func (d *Device) Close() error {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.context == nil {
		return nil
	}
	d.context = nil
	return cuResult(C.call_cuDevicePrimaryCtxRelease_v2(d.ordinal), "cuDevicePrimaryCtxRelease", "device %d", d.ordinal)
}

// Do calls f on a thread to which the context is current. Calls of Do run one
// at a time; f must not call Do. It returns an error if the device is closed.
func (d *Device) Do(f func() error) (err error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.context == nil {
		return errors.New("cuda: the device is closed")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cuResult(C.call_cuCtxPushCurrent_v2(d.context), "cuCtxPushCurrent", ""); err != nil {
		return err
	}
	defer func() {
		var old unsafe.Pointer
		err = errors.Join(err, cuResult(C.call_cuCtxPopCurrent_v2(&old), "cuCtxPopCurrent", ""))
	}()
	return f()
}

// Attribute returns an attribute of the device by its number, a
// CUdevice_attribute.
func (d *Device) Attribute(attribute int) (int, error) {
	var v C.int
	code := C.call_cuDeviceGetAttribute(&v, C.int(attribute), d.ordinal)
	return int(v), cuResult(code, "cuDeviceGetAttribute", "attribute %d", attribute)
}

// Info asks the driver and the libraries for their properties. A library that
// is not available is not an error of Info.
func (d *Device) Info() (Info, error) {
	info := Info{Driver: version(d.driver)}
	name := (*C.char)(C.calloc(1, 256))
	defer C.free(unsafe.Pointer(name))
	if err := cuResult(C.call_cuDeviceGetName(name, 255, d.ordinal), "cuDeviceGetName", ""); err != nil {
		return info, err
	}
	info.Name = printable(C.GoString(name))
	var bytes C.size_t
	if err := cuResult(C.call_cuDeviceTotalMem_v2(&bytes, d.ordinal), "cuDeviceTotalMem", ""); err != nil {
		return info, err
	}
	if info.Memory = int(bytes); info.Memory < 1 {
		return info, fmt.Errorf("cuDeviceTotalMem says %d bytes", uint64(bytes))
	}
	var err error
	for attribute, v := range map[int]*int{
		attributeMajor: &info.Major, attributeMinor: &info.Minor, attributeMultiprocessors: &info.Multiprocessors,
	} {
		if *v, err = d.Attribute(attribute); err != nil {
			return info, err
		}
	}
	if info.Major < 1 || info.Minor < 0 || info.Multiprocessors < 1 {
		return info, fmt.Errorf("cuDeviceGetAttribute says compute capability %d.%d and %d multiprocessors",
			info.Major, info.Minor, info.Multiprocessors)
	}
	info.Libraries = append(info.Libraries,
		Loaded{Name: libcuda.name, Version: info.Driver, Path: libcuda.path()},
		d.blasLoaded(), ltLoaded(), nvrtcLoaded())
	return info, nil
}

// MemInfo returns the bytes of device memory that are free, and their total.
func (d *Device) MemInfo() (free, total int, err error) {
	var f, t C.size_t
	err = cuResult(C.call_cuMemGetInfo_v2(&f, &t), "cuMemGetInfo", "")
	if free, total = int(f), int(t); err == nil && !(0 <= free && free <= total) {
		err = fmt.Errorf("cuMemGetInfo says %d of %d bytes are free", uint64(f), uint64(t))
	}
	return free, total, err
}

// Alloc allocates n bytes of device memory.
func (d *Device) Alloc(n int) (Ptr, error) {
	var p C.uint64_t
	err := cuResult(C.call_cuMemAlloc_v2(&p, C.size_t(n)), "cuMemAlloc", "%d bytes", n)
	return Ptr(p), made(err, pointer(Ptr(p)), "cuMemAlloc")
}

// Free frees device memory.
func (d *Device) Free(p Ptr) error {
	return cuResult(C.call_cuMemFree_v2(C.uint64_t(p)), "cuMemFree", "%#x", p)
}

// HostAlloc allocates n bytes of pinned host memory, which the device can copy
// from and to.
func (d *Device) HostAlloc(n int) ([]byte, error) {
	var p unsafe.Pointer
	err := cuResult(C.call_cuMemHostAlloc(&p, C.size_t(n), 0), "cuMemHostAlloc", "%d bytes", n)
	if err := made(err, p, "cuMemHostAlloc"); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// HostFree frees memory of HostAlloc.
func (d *Device) HostFree(b []byte) error {
	return cuResult(C.call_cuMemFreeHost(unsafe.Pointer(unsafe.SliceData(b))), "cuMemFreeHost", "%d bytes", len(b))
}

// ToDevice copies from memory of HostAlloc to the device. It may return before
// the copy is complete.
func (d *Device) ToDevice(to Ptr, from []byte, s Stream) error {
	code := C.call_cuMemcpyHtoDAsync_v2(C.uint64_t(to), unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from)), s.p)
	return cuResult(code, "cuMemcpyHtoDAsync", "%d bytes", len(from))
}

// ToHost copies from the device to memory of HostAlloc. It may return before
// the copy is complete.
func (d *Device) ToHost(to []byte, from Ptr, s Stream) error {
	code := C.call_cuMemcpyDtoHAsync_v2(unsafe.Pointer(unsafe.SliceData(to)), C.uint64_t(from), C.size_t(len(to)), s.p)
	return cuResult(code, "cuMemcpyDtoHAsync", "%d bytes", len(to))
}
