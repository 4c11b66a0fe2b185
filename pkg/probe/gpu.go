package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/internal/cuda"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// ErrNoGPU is wrapped by the error of [OpenGPU] if there is no GPU, which is a
// normal state.
var ErrNoGPU = cuda.ErrNoGPU

// A GPU is an NVIDIA GPU, opened by [OpenGPU]. It loads kernels through the
// driver alone, without other libraries.
type GPU struct {
	device *cuda.Device
	info   cuda.Info
}

// OpenGPU opens the GPU of that number, counted from 0. The error wraps
// [ErrNoGPU] if there is none. The caller closes the units of the GPU and then
// the GPU.
func OpenGPU(ordinal int) (*GPU, error) {
	d, err := cuda.Open(ordinal)
	if err != nil {
		return nil, err
	}
	info, err := d.Info()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &GPU{d, info}, nil
}

// opened returns the device of a GPU. It panics, naming the method call, if
// OpenGPU did not make the GPU.
func (g *GPU) opened(call string) *cuda.Device {
	if g == nil || g.device == nil {
		panic(fmt.Sprintf("probe: %s: a GPU that was not opened, want one of OpenGPU", call))
	}
	return g.device
}

// Close releases the GPU. It panics if the GPU was not opened.
func (g *GPU) Close() error { return g.opened("Close").Close() }

// Instructions returns the devices of the catalogue whose instruction the GPU
// has and for which this package has a kernel.
func (g *GPU) Instructions() []tcore.Device { return Instructions(g.info.Major, g.info.Minor) }

// Provenance returns the provenance of results of the GPU: its name, driver and
// library. The caller adds date and seed.
func (g *GPU) Provenance() Provenance {
	return Provenance{
		GPU:     fmt.Sprintf("%s, compute capability %d.%d", g.info.Name, g.info.Major, g.info.Minor),
		Driver:  "for CUDA " + g.info.Driver,
		Library: "libcuda, PTX compiled by the driver",
	}
}

// Load compiles PTX text, as [Loader] specifies. It panics if the GPU was not
// opened.
func (g *GPU) Load(ptx, name string) (Program, error) {
	k := &gpuKernel{device: g.opened("Load")}
	loaded := false
	err := g.device.Do(func() (err error) {
		if k.module, err = g.device.LoadModule([]byte(ptx)); err != nil {
			return err
		}
		loaded = true
		k.function, err = k.module.Function(name)
		return err
	})
	switch {
	case err != nil && loaded:
		return nil, errors.Join(err, k.Close())
	case err != nil:
		return nil, err
	}
	return k, nil
}

type gpuKernel struct {
	device   *cuda.Device
	module   cuda.Module
	function cuda.Function
	closed   bool
}

// Close unloads the kernel. If the context could not be made current, Close may
// be called again.
func (k *gpuKernel) Close() error {
	return k.device.Do(func() error {
		if k.closed {
			return nil
		}
		k.closed = true
		return k.module.Unload()
	})
}

// Launch runs the kernel in a new stream. It frees all memory, also after an
// error.
func (k *gpuKernel) Launch(ctx context.Context, blocks, threads int, in [][]byte, out []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.device.Do(func() (err error) {
		free := func(f func() error) { err = errors.Join(err, f()) }
		s, err := k.device.NewStream()
		if err != nil {
			return err
		}
		defer free(s.Destroy)

		var arguments []any
		var results []byte
		var at cuda.Ptr
		for i := range len(in) + 1 {
			n := len(out)
			if i < len(in) {
				n = len(in[i])
			}
			if at, err = k.device.Alloc(n); err != nil {
				return err
			}
			p := at
			defer free(func() error { return k.device.Free(p) })
			arguments = append(arguments, p)
			host, err := k.device.HostAlloc(n)
			if err != nil {
				return err
			}
			defer free(func() error { return k.device.HostFree(host) })
			results = host
			if i < len(in) {
				copy(host, in[i])
			} else { // NaNs, to show which elements the kernel does not write
				copy(host, bytes.Repeat([]byte{0xff}, n))
			}
			if err := k.device.ToDevice(p, host, s); err != nil {
				return errors.Join(err, s.Sync())
			}
		}

		grid, block := [3]int{blocks, 1, 1}, [3]int{threads, 1, 1}
		err = k.device.Launch(k.function, grid, block, 0, s, arguments...)
		if err == nil {
			err = k.device.ToHost(results, at, s)
		}
		if err = errors.Join(err, s.Sync()); err == nil {
			copy(out, results)
		}
		return err
	})
}
