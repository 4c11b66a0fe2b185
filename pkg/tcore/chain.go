package tcore

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/fma"
	"gonum.org/v1/gonum/blas/blas32"
)

// Chain adds each product by one IEEE FMA in C, one after the other, rounded to
// nearest even: binary64 on all tensor and matrix cores, and binary32 on AMD
// CDNA (Xie et al. 2025). With C = Binary32 and factors of lower precision it
// is the recursive FMA of the paper.
type Chain struct {
	NaN NaNRule // of results
}

// NaNRule says which NaN an FMA xy + c returns. The zero value is [OneNaN]. By
// the other rules it is the first NaN among the operands, in an order, made
// quiet, and for an invalid operation the one with all bits set down to the
// quiet bit.
type NaNRule uint8

const (
	OneNaN     NaNRule = iota // every NaN is the same
	FirstOfXYC                // as in FMAs of Intel processors (Intel 2024)
	FirstOfYCX                // as in binary64 on an H100, which this module has asked
)

// String returns the name of the rule.
func (r NaNRule) String() string {
	names := [...]string{"OneNaN", "FirstOfXYC", "FirstOfYCX"}
	if int(r) >= len(names) {
		return fmt.Sprintf("NaNRule(%d)", int(r))
	}
	return names[r]
}

// of returns the NaN that is the result of xy + c.
func (r NaNRule) of(x, y, c float64) float64 {
	switch r {
	case FirstOfXYC:
		return nanOf(x, y, c)
	case FirstOfYCX:
		return nanOf(y, c, x)
	}
	return math.NaN()
}

func (Chain) width() int { return 1 }

func (c Chain) sum(d *Device, b block, _ *TraceBlock) float64 {
	z := d.C.FMA(b.x[0], b.y[0], b.c, ToNearestEven)
	if z != z {
		return c.NaN.of(b.x[0], b.y[0], b.c)
	}
	return z
}

func (c Chain) check(d *Device) {
	if c.NaN > FirstOfYCX {
		panic(fmt.Sprintf("tcore: device %q: NaN = %d, want a rule", d.Name, c.NaN))
	}
}

// chain64 computes the sum of a [Chain] in binary64.
func chain64(x, y []float64, c float64) float64 {
	y = y[:len(x)]
	for i, v := range x {
		c = math.FMA(v, y[i], c)
	}
	return c
}

// chain32 computes the sum of a [Chain] in binary32.
func chain32(x, y []float64, c float64) float64 {
	s := float32(c)
	y = y[:len(x)]
	for i, v := range x {
		s = fma.Float32(float32(v), float32(y[i]), s)
	}
	return float64(s)
}

var chainPath = newPath("chains of FMAs")

// newChainProduct prepares a and b for a [Chain] in binary32 or binary64. It
// returns false for another core or format, and if there is no kernel.
func newChainProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	if _, ok := d.Core.(Chain); !ok || !within32(d.A) || !within32(d.B) {
		return nil, false
	}
	switch {
	case d.C.Equal(Binary32):
		kernel, ok := sumsKernelFor(true, b.Cols)
		if !ok {
			return nil, false
		}
		p := newSumsProduct(a, b, kernel, converter32(d, d.A), converter32(d, d.B))
		return &sums32[float32]{p, nil, chainPath}, true
	case d.C.Equal(Binary64):
		kernel, ok := chain64KernelFor(b.Cols)
		if !ok {
			return nil, false
		}
		p := newSumsProduct(a, b, kernel, converter64(d, d.A), converter64(d, d.B))
		return &sums64{p, chainPath}, true
	}
	return nil, false
}
