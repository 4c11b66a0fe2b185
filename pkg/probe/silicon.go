package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A Loader compiles kernels for a GPU.
type Loader interface {
	// Load compiles PTX text and returns the kernel with the given name.
	Load(ptx, name string) (Program, error)
}

// A Program is a kernel that is loaded on a GPU.
type Program interface {
	// Launch runs the kernel on a grid of blocks, each of the given number of
	// threads. The arguments of the kernel are pointers to copies of the slices of
	// in, in their order, and a pointer to memory that is afterwards copied to out.
	Launch(ctx context.Context, blocks, threads int, in [][]byte, out []byte) error
	// Close unloads the kernel.
	Close() error
}

// A Silicon is a [Unit] that runs the instruction on a GPU.
type Silicon struct {
	device tcore.Device
	tile   tile
	kernel Program
}

// OnGPU returns the unit that runs the instruction of d, an mma or wgmma, on
// the GPU of the loader. It returns an error if this package has no kernel for
// the instruction or the kernel does not compile. The caller closes the unit.
func OnGPU(l Loader, d tcore.Device) (*Silicon, error) {
	t, err := newTile(d)
	if err != nil {
		return nil, err
	}
	k, err := l.Load(t.ptx(), entry)
	if err != nil {
		return nil, fmt.Errorf("probe: kernel for %s (%s for %s): %w", d.Name, t.mnemonic, t.target, err)
	}
	return &Silicon{d, t, k}, nil
}

// Instructions returns the devices of the catalogue whose instruction a GPU of
// compute capability major.minor has and for which this package has a kernel.
// For tcgen05, which a B200 (10.0) has too, there is no kernel.
func Instructions(major, minor int) []tcore.Device {
	architecture := ""
	switch {
	case major == 7 && minor < 5:
		architecture = "Volta"
	case major == 7:
		architecture = "Turing"
	case major == 8 && minor < 9:
		architecture = "Ampere"
	case major == 8:
		architecture = "Ada"
	case major == 9:
		architecture = "Hopper"
	case major == 10:
		architecture = "Blackwell"
	case major == 12:
		architecture = "RTX Blackwell"
	}
	var ds []tcore.Device
	for _, d := range devices.All() {
		if _, err := newTile(d); err == nil && d.Architecture == architecture {
			ds = append(ds, d)
		}
	}
	return ds
}

// Device returns the record of the catalogue for the instruction.
func (s *Silicon) Device() tcore.Device { return s.device }

// K returns the number of products that one instruction adds up.
func (s *Silicon) K() int { return s.tile.k }

// Close unloads the kernel. It returns an error if the unit is already closed.
func (s *Silicon) Close() error {
	if s.kernel == nil {
		return errors.New("probe: the unit is closed")
	}
	k := s.kernel
	s.kernel = nil
	return k.Close()
}

// Dots computes dot products as [Unit] specifies, in launches of at most 2^14
// tiles. It returns an error if the unit is closed, and panics if the lengths
// do not fit.
func (s *Silicon) Dots(ctx context.Context, x, y, c, d []uint64) error {
	checkDots(s, x, y, c, d)
	if s.kernel == nil {
		return errors.New("probe: the unit is closed")
	}
	const most = 1 << 14
	step := most * s.tile.dots
	for lo := 0; lo < len(d); lo += step {
		hi := min(lo+step, len(d))
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.launch(ctx, x[lo*s.tile.k:hi*s.tile.k], y[lo*s.tile.k:hi*s.tile.k], c[lo:hi], d[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Silicon) launch(ctx context.Context, x, y, c, d []uint64) error {
	t := s.tile
	tiles := (len(d) + t.dots - 1) / t.dots
	a, b := make([]byte, tiles*t.bytesA), make([]byte, tiles*t.bytesB)
	in, out := make([]byte, tiles*t.bytesC), make([]byte, tiles*t.bytesC)
	for i := range tiles {
		lo, hi := i*t.dots, min((i+1)*t.dots, len(d))
		t.packA(a[i*t.bytesA:(i+1)*t.bytesA], x[lo*t.k:hi*t.k])
		t.packB(b[i*t.bytesB:(i+1)*t.bytesB], y[lo*t.k:hi*t.k])
		t.packC(in[i*t.bytesC:(i+1)*t.bytesC], c[lo:hi])
	}
	if err := s.kernel.Launch(ctx, tiles, t.lanes, [][]byte{a, b, in}, out); err != nil {
		return fmt.Errorf("probe: %s: %w", s.device.Name, err)
	}
	for i := range tiles {
		lo, hi := i*t.dots, min((i+1)*t.dots, len(d))
		t.unpackD(d[lo:hi], out[i*t.bytesC:(i+1)*t.bytesC])
	}
	return nil
}
