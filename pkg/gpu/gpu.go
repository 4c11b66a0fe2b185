package gpu

import (
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/internal/cuda"
)

// ErrNoGPU is what the error of [Open] wraps: there is no driver, no device, a
// driver older than CUDA 11, or a build without cgo.
var ErrNoGPU = cuda.ErrNoGPU

// GPU is one device. Its methods may be called by several goroutines, and wait
// for each other.
type GPU struct {
	device *cuda.Device
	blas   *cuda.BLAS // nil until it is needed
}

// Open opens the first GPU. An error wraps [ErrNoGPU] and lists where the
// driver was looked for.
func Open() (*GPU, error) {
	device, err := cuda.Open(0)
	if err != nil {
		return nil, err
	}
	return &GPU{device: device}, nil
}

// opened returns the device of a GPU. It panics, in the words of the call, if
// Open did not make it.
func (g *GPU) opened(call string) *cuda.Device {
	if g == nil || g.device == nil {
		panic(fmt.Sprintf("gpu: %s: a GPU that was not opened, want one of Open", call))
	}
	return g.device
}

// Close frees what the GPU was used with. The GPU must not be used again; but
// if an error came before anything was freed, because the context could not be
// made current, Close may be called again.
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

// Info says what a GPU is.
type Info struct {
	Name            string
	Capability      string // compute capability, 9.0 for Hopper
	Architecture    string // as package tcore names it, or "" for one without tensor cores
	Multiprocessors int
	Memory          int    // bytes
	Driver          string // the newest version of CUDA that the driver supports
	Libraries       []Library
}

// Library is one of NVIDIA's, with its version and path, or why it cannot be
// used.
type Library struct {
	Name, Version, Path string
	Err                 error
}

// Info asks the driver and the libraries. A library that cannot be used is no
// error.
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

// architecture returns the name of a compute capability.
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
