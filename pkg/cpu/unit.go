package cpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// ErrNoMatrixUnit is wrapped by the error of [Open] if the processor has no
// such instruction, or the system does not let it be used, which is a normal
// state.
var ErrNoMatrixUnit = errors.New("no matrix unit to use")

// kernel is the routine of one instruction.
type kernel struct {
	device tcore.Device
	pairs  int // of products in one instruction

	// run continues 16 × 16 sums, whose rows are ldc bytes apart, by dot products
	// of the given number of pairs of products, a multiple of that of the
	// instruction and not 0. It is nil for integers. For every 16 pairs, a has a
	// tile of 16 rows of 16 pairs, and b one of 16 pairs for each of 16 columns:
	// the element of tile column j in pair i is that of 16i + j.
	run func(c *float32, ldc int, a, b *uint16, pairs int)

	// lanes, in place of pairs and run, adds n products to each of 32 sums, codes
	// of binary16: those of x and y at the same place, 32 for every product.
	lanes func(c, x, y *uint16, n int)

	missing func() string // why the instruction cannot be used, or ""

	// For whole products: the first two, the last, or none.
	tiles *tileKernel[float32] // of numbers that it rounds to bfloat16
	codes *tileKernel[uint16]  // of codes of bfloat16
	bytes *tileKernel[uint8]   // of integers
}

// The sides of a tile of sums, and what of its factors is in one tile.
const (
	side      = 16
	tilePairs = 16
	tileSize  = side * tilePairs * 2
)

// A Unit is one instruction of the processor, opened by [Open]. Its methods may
// be called from many goroutines at once.
type Unit struct{ kernel *kernel }

// Instructions returns the devices of devices.All whose instruction the
// processor has and may use; none is a normal state.
func Instructions() []tcore.Device { return usable(false) }

// Integers returns those of devices.Integers.
func Integers() []tcore.Device { return usable(true) }

// usable returns the devices of integers, or the others, that can be used.
func usable(integers bool) []tcore.Device {
	var list []tcore.Device
	for _, k := range kernels {
		if (k.bytes != nil) == integers && k.missing() == "" {
			list = append(list, k.device)
		}
	}
	return list
}

// Open returns the unit that runs the instruction of d on this processor. The
// error wraps [ErrNoMatrixUnit] and says why if there is none, as for all
// devices that are not the instruction of a processor.
func Open(d tcore.Device) (*Unit, error) {
	for i := range kernels {
		if k := &kernels[i]; k.device == d {
			if why := k.missing(); why != "" {
				return nil, fmt.Errorf("cpu: %s: %w: %s", d.Name, ErrNoMatrixUnit, why)
			}
			return &Unit{k}, nil
		}
	}
	return nil, fmt.Errorf("cpu: %s: %w: it is no instruction of a processor of this kind", d.Name, ErrNoMatrixUnit)
}

// opened returns the kernel of a unit. It panics, naming the method call, if
// Open did not make the unit.
func (u *Unit) opened(call string) *kernel {
	if u == nil || u.kernel == nil {
		panic(fmt.Sprintf("cpu: %s: a unit that was not opened, want one of Open", call))
	}
	return u.kernel
}

// Device returns the record of the catalogue for the instruction.
func (u *Unit) Device() tcore.Device { return u.opened("Device").device }

// K returns the number of products that one instruction adds up: 32 for
// TDPBF16PS and 64 for integers, on tiles of full depth, 2 for VDPBF16PS, and 1
// for VFMADD231PH.
func (u *Unit) K() int {
	k := u.opened("K")
	if k.lanes != nil {
		return 1
	}
	return 2 * k.pairs
}

// Dots stores in d[i] the code of c[i] + Σ x[iK+k] y[iK+k] for every i, where d
// and c have length n, x and y have length nK. The codes are those of
// [tcore.Device.DotCodes], payloads of NaN included. It returns the error of
// ctx. It panics if the lengths do not fit.
func (u *Unit) Dots(ctx context.Context, x, y, c, d []uint64) error {
	kernel, k := u.opened("Dots"), u.K()
	if n := len(d); len(c) != n || len(x) != n*k || len(y) != n*k {
		panic(fmt.Sprintf("cpu: Dots: x, y, c, d have %d, %d, %d, %d elements, want nK, nK, n, n with K = %d",
			len(x), len(y), len(c), n, k))
	}
	if kernel.bytes != nil {
		parallel.Ranges(parts(len(d), width), func(lo, hi int) {
			var t byteDots
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				from, to := i*width, min((i+1)*width, len(d))
				t.compute(kernel.bytes, x[from*k:to*k], y[from*k:to*k], c[from:to], d[from:to])
			}
		})
		return ctx.Err()
	}
	parallel.Ranges((len(d)+side-1)/side, func(lo, hi int) {
		var t dots
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			from, to := i*side, min((i+1)*side, len(d))
			if kernel.lanes != nil {
				kernel.laneDots(x[from:to], y[from:to], c[from:to], d[from:to])
				continue
			}
			t.compute(kernel, x[from*k:to*k], y[from*k:to*k], c[from:to], d[from:to])
		}
	})
	return ctx.Err()
}
