package main

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// plausible is what a GPU can have made of a product of binary16 matrices with sums in binary32, in whatever
// order: K + 2 losses of at most 2^-22 of all sizes. That is as much as all that the truncating units of the
// catalogue are bound by, and four times what K FMAs of binary32 are.
type plausible struct {
	exact tcore.Exact
	limit blas64.General // of the size of an error
}

// newPlausible returns what can have been made of AB.
func newPlausible(a, b blas32.General) (p plausible, err error) {
	if p.exact, err = tcore.ExactGEMM(a, b); err != nil {
		return p, err
	}
	sizes, err := tcore.ExactAbsGEMM(a, b)
	if err != nil {
		return p, err
	}
	p.limit = sizes.Float64()
	blas64.Scal(float64(a.Cols+2)*0x1p-22, blas64.Vector{N: len(p.limit.Data), Inc: 1, Data: p.limit.Data})
	return p, nil
}

// check returns an error that names the first output of d that rounding cannot have made. A difference of an
// emulation from silicon is none: then no record of it could be made.
func (p plausible) check(d blas32.General) error {
	for i, e := range p.exact.Error(d).Data {
		if !(math.Abs(e) <= p.limit.Data[i]) {
			row, col := i/d.Cols, i%d.Cols
			exact, _ := p.exact.At(row, col).Float64()
			return fmt.Errorf("the GPU did not compute it: row %d, column %d is %v, and no rounding takes that farther than %.2g from %v",
				row, col, d.Data[row*d.Stride+col], p.limit.Data[i], exact)
		}
	}
	return nil
}

// near returns an error that names the first result of d = ab + c that rounding cannot have made, fused or
// not, of numbers that may have been rounded to binary16 before.
func near(got, want, a, b, c []float32) error {
	for i, x := range got {
		size := math.Abs(float64(a[i])*float64(b[i])) + math.Abs(float64(c[i]))
		if !(math.Abs(float64(x)-float64(want[i])) <= 0x1p-22*size+0x1p-126) { // what is subnormal may be flushed
			return fmt.Errorf("the GPU did not compute it: result %d is %v, and %v on the processor", i, x, want[i])
		}
	}
	return nil
}

// sumsBinary16 returns the first device of an architecture that sums products of binary16 in binary32, if
// there is one.
func sumsBinary16(architecture string) (tcore.Device, bool) {
	for _, d := range tcore.Devices() {
		if d.Architecture == architecture && d.A == tcore.Binary16 && d.B == tcore.Binary16 && d.C == tcore.Binary32 {
			return d, true
		}
	}
	return tcore.Device{}, false
}
