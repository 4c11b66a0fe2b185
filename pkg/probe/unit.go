package probe

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"sync"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Unit computes dot products on one instruction, of the lengths and formats
// of its device.
type Unit interface {
	// Device returns the record of the catalogue for the instruction: its formats,
	// and what the unit is expected to do.
	Device() tcore.Device
	// K returns the number of products that the instruction takes.
	K() int
	// Dots stores in d[i] the code of c[i] + Σ x[iK+k] y[iK+k] for every i. The
	// codes are those of [tcore.Device.DotCodes].
	Dots(ctx context.Context, x, y, c, d []uint64) error
}

// Emulate returns a unit that computes as d does, in software: d plays the
// silicon. It panics if d takes scales.
func Emulate(d tcore.Device) Unit {
	if d.ScaleBlock > 0 {
		panic(fmt.Sprintf("probe: Emulate: %s takes scales, want a device without", d.Name))
	}
	return emulated{d, InstructionK(d)}
}

type emulated struct {
	device tcore.Device
	k      int
}

func (e emulated) Device() tcore.Device { return e.device }
func (e emulated) K() int               { return e.k }

func (e emulated) Dots(ctx context.Context, x, y, c, d []uint64) error {
	checkDots(e, x, y, c, d)
	const few = 256
	var wait sync.WaitGroup
	part := max(few, (len(d)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for lo := 0; lo < len(d); lo += part {
		hi := min(lo+part, len(d))
		wait.Go(func() {
			for i := lo; i < hi && (i%few != 0 || ctx.Err() == nil); i++ {
				d[i] = e.device.DotCodes(x[i*e.k:(i+1)*e.k], y[i*e.k:(i+1)*e.k], c[i])
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// checkDots panics unless the lengths fit.
func checkDots(u Unit, x, y, c, d []uint64) {
	if n := len(d); len(c) != n || len(x) != n*u.K() || len(y) != n*u.K() {
		panic(fmt.Sprintf("probe: Dots: x, y, c, d have %d, %d, %d, %d elements, want nK, nK, n, n with K = %d",
			len(x), len(y), len(c), n, u.K()))
	}
}

var shapeK = regexp.MustCompile(`k(\d+)$|k(\d+)[ .]`)

// InstructionK returns the number of products that one instruction of d takes,
// from its shape; for a device whose instruction names none, it is a block, and
// 4 for a chain of FMAs.
func InstructionK(d tcore.Device) int {
	if m := shapeK.FindStringSubmatch(d.Instruction); m != nil {
		k, _ := strconv.Atoi(m[1] + m[2])
		return k
	}
	if _, ok := d.Core.(tcore.Chain); ok {
		return 4
	}
	return d.BlockTerms()
}

// code returns the bit pattern of a number of f in a register: that of binary32
// for tf32.
func code(f tcore.Format, x float64) uint64 {
	if f.Name == tcore.TF32.Name {
		f = tcore.Binary32
	}
	return f.Encode(x, tcore.ToNearestEven)
}

// number returns the number that a bit pattern in a register stands for.
func number(f tcore.Format, code uint64) float64 {
	if f.Name == tcore.TF32.Name {
		return tcore.Binary32.Decode(code &^ (1<<13 - 1))
	}
	return f.Decode(code)
}

// same reports whether two codes of f are equal or both are a NaN.
func same(f tcore.Format, x, y uint64) bool {
	if x == y {
		return true
	}
	u, v := f.Decode(x), f.Decode(y)
	return u != u && v != v
}
