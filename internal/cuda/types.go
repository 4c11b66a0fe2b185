package cuda

import "unsafe"

// Ptr is an address in device memory.
type Ptr uint64

// A Stream is a queue of copies and kernels, which the device executes in
// order. The zero Stream is the device's default stream.
type Stream struct{ p unsafe.Pointer }

// An Event is a point in a stream. It has a time once the stream has reached
// it.
type Event struct{ p unsafe.Pointer }

// A Module is compiled code on the device.
type Module struct{ p unsafe.Pointer }

// A Function is a kernel of a module.
type Function struct{ p unsafe.Pointer }

// Info describes a device and the libraries that are used with it.
type Info struct {
	Name            string
	Major, Minor    int // compute capability, 9 and 0 for Hopper
	Multiprocessors int
	Memory          int      // bytes
	Driver          string   // the newest version of CUDA that the driver supports
	Libraries       []Loaded // all four
}

// Loaded is a library with its version and path, or with the reason why it is
// not available.
type Loaded struct {
	Name, Version, Path string
	Err                 error
}

// Device attributes that this package reads.
const (
	attributeMultiprocessors = 16
	attributeMajor           = 75
	attributeMinor           = 76
)

// MinimumDriver is the version of CUDA that the driver must support, 11.0.
const MinimumDriver = 11000
