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

// A Unit computes dot products with one instruction, of the length K and the
// formats of its device.
type Unit interface {
	// Device returns the record of the catalogue for the instruction: its formats,
	// and the arithmetic that the unit is expected to have.
	Device() tcore.Device
	// K returns the number of products that one instruction adds up.
	K() int
	// Dots stores in d[i] the code of c[i] + Σ x[iK+k] y[iK+k] for every i, where d
	// and c have length n, x and y have length nK. The codes are those of
	// [tcore.Device.DotCodes].
	Dots(ctx context.Context, x, y, c, d []uint64) error
}

// Emulate returns a unit that computes as d does, in software. Its Dots panics
// if the lengths do not fit. Emulate panics if d has scales.
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

// checkDots panics unless c and d have length n, and x and y have length nK.
func checkDots(u Unit, x, y, c, d []uint64) {
	if n := len(d); len(c) != n || len(x) != n*u.K() || len(y) != n*u.K() {
		panic(fmt.Sprintf("probe: Dots: x, y, c, d have %d, %d, %d, %d elements, want nK, nK, n, n with K = %d",
			len(x), len(y), len(c), n, u.K()))
	}
}

var shapeK = regexp.MustCompile(`k(\d+)$|k(\d+)[ .]`)

// InstructionK returns the number K of products that one instruction of d adds
// up, according to the shape in its name. If the name contains no shape, K is
// the length of a block, or 4 for a chain of FMAs.
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

// code returns the bit pattern in a register of a number of f. A tf32 number is
// stored as binary32.
func code(f tcore.Format, x float64) uint64 {
	if f.Name == tcore.TF32.Name {
		f = tcore.Binary32
	}
	return f.Encode(x, tcore.ToNearestEven)
}

// number returns the number that a bit pattern in a register represents. For
// tf32 the last 13 bits are ignored.
func number(f tcore.Format, code uint64) float64 {
	if f.Name == tcore.TF32.Name {
		return tcore.Binary32.Decode(code &^ (1<<13 - 1))
	}
	return f.Decode(code)
}

// same reports whether two codes of f are equal or both are NaN.
func same(f tcore.Format, x, y uint64) bool {
	if x == y {
		return true
	}
	u, v := f.Decode(x), f.Decode(y)
	return u != u && v != v
}
