package gpu

import (
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/internal/cuda"
)

// ErrNoGPU is wrapped by every error of [Open]: there is no driver or no
// device, the driver is older than CUDA 11 or did not answer within a minute,
// or the program was built without cgo.
var ErrNoGPU = cuda.ErrNoGPU

// ErrNotSupported is wrapped by errors of products that the library does not
// compute: of these shapes, formats and layouts.
var ErrNotSupported = cuda.ErrNotSupported

// GPU is one device, opened by [Open]. Several goroutines may call its methods,
// which run one at a time.
type GPU struct {
	device *cuda.Device
	blas   *cuda.BLAS // nil until first used
}

// Open opens the first GPU. Every error wraps [ErrNoGPU]; if no driver was
// found, it lists where the driver was searched for.
func Open() (*GPU, error) {
	device, err := cuda.Open(0)
	if err != nil {
		return nil, err
	}
	return &GPU{device: device}, nil
}

// opened returns the device of a GPU. It panics, naming the method call, if
// Open did not make the GPU.
func (g *GPU) opened(call string) *cuda.Device {
	if g == nil || g.device == nil {
		panic(fmt.Sprintf("gpu: %s: a GPU that was not opened, want one of Open", call))
	}
	return g.device
}

// Close frees the handles of the libraries and the context of the device. The
// GPU must not be used afterwards. If the context could not be made current,
// nothing was freed, and Close may be called again. It panics if the GPU was
// not opened.
func (g *GPU) Close() error {
	err := g.opened("Close").Do(func() error {
		b := g.blas
		if g.blas = nil; b == nil {
			return nil
		}
		return b.Destroy()
	})
	if g.blas != nil {
		return err
	}
	return errors.Join(err, g.device.Close())
}

// Info describes a GPU.
type Info struct {
	Name            string
	Capability      string // compute capability, 9.0 for Hopper
	Architecture    string // as package tcore names it; "" if unknown or without tensor cores
	Multiprocessors int
	Memory          int    // bytes
	Driver          string // the newest version of CUDA that the driver supports
	Libraries       []Library
}

// Library is one of NVIDIA's libraries, with its version and path, or with the
// reason why it cannot be used.
type Library struct {
	Name, Version, Path string
	Err                 error
}

// Info asks the driver and the libraries for the properties of the GPU. A
// library that cannot be used is not an error of Info: its Err says why. It
// panics if the GPU was not opened.
func (g *GPU) Info() (Info, error) {
	i, err := g.opened("Info").Info()
	if err != nil {
		return Info{}, fmt.Errorf("gpu: %w", err)
	}
	info := Info{Name: i.Name, Capability: fmt.Sprintf("%d.%d", i.Major, i.Minor),
		Architecture: architecture(i.Major, i.Minor), Multiprocessors: i.Multiprocessors, Memory: i.Memory, Driver: i.Driver}
	for _, l := range i.Libraries {
		info.Libraries = append(info.Libraries, Library(l))
	}
	return info, nil
}

// architecture returns the name of the architecture with a compute capability,
// or "" if it is not known.
func architecture(major, minor int) string {
	switch {
	case major == 7 && minor < 5:
		return "Volta"
	case major == 7:
		return "Turing"
	case major == 8 && minor == 9:
		return "Ada"
	case major == 8:
		return "Ampere"
	case major == 9:
		return "Hopper"
	case major == 10:
		return "Blackwell"
	case major == 12:
		return "RTX Blackwell"
	}
	return ""
}
