package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/trial"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
)

// plausible contains the limit that rounding sets to the error of a product of
// binary16 matrices with sums in binary32 on any GPU, in any order: (K + 2)
// 2^-22 |A||B|. This is at least every bound on the truncating devices of the
// catalogue, and four times the bound on K FMAs in binary32.
type plausible struct {
	*trial.Product
	limit []float64 // of |error|, for each output
}

// newPlausible returns the limits for AB. An error names an element that is not
// finite.
func newPlausible(a, b blas32.General) (p plausible, err error) {
	if p.Product, err = trial.Of(a, b); err != nil {
		return p, err
	}
	p.limit = slices.Clone(p.Sizes())
	floats.Scale(float64(a.Cols+2)*0x1p-22, p.limit)
	return p, nil
}

// check returns an error that names the first output of d whose error exceeds
// its limit, which rounding cannot explain. A difference between emulation and
// silicon is not such an error, so that it can be recorded.
func (p plausible) check(d blas32.General) error {
	for i, e := range p.Exact.Error(d).Data {
		if !(math.Abs(e) <= p.limit[i]) {
			row, col := i/d.Cols, i%d.Cols
			return fmt.Errorf("the GPU did not compute it: row %d, column %d is %v, and no rounding takes that farther than %.2g from %v",
				row, col, d.Data[row*d.Stride+col], p.limit[i], p.Values[i])
		}
	}
	return nil
}

// near returns an error that names the first result of d = ab + c whose
// difference from want exceeds what rounding can explain. The operation may be
// fused or not, and a and b may have been rounded to binary16 before.
func near(got, want, a, b, c []float32) error {
	for i, x := range got {
		size := math.Abs(float64(a[i])*float64(b[i])) + math.Abs(float64(c[i]))
		if !(math.Abs(float64(x)-float64(want[i])) <= 0x1p-22*size+0x1p-126) { // subnormal results may be flushed
			return fmt.Errorf("the GPU did not compute it: result %d is %v, and %v on the processor", i, x, want[i])
		}
	}
	return nil
}

// sumsBinary16 returns the first device of an architecture that multiplies
// binary16 and accumulates in binary32; ok is false if there is none.
func sumsBinary16(architecture string) (tcore.Device, bool) {
	for _, d := range devices.All() {
		if d.Architecture == architecture && d.A == tcore.Binary16 && d.B == tcore.Binary16 && d.C == tcore.Binary32 {
			return d, true
		}
	}
	return tcore.Device{}, false
}
