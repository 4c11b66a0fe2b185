package tolerance

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// A Constant is a tolerance without matrices, for a test in any language:
//
//	|D̂ - AB| <= Relative |A||B| + Underflow + Stored |D̂|
//
// for all outputs and all numbers of the formats of the device, always.
type Constant struct {
	Device    string  `json:"device"`
	K         int     `json:"k"`
	Orders    string  `json:"orders"`
	Bound     string  `json:"bound"`
	Relative  float64 `json:"relative"`
	Underflow float64 `json:"underflow"`
	Stored    float64 `json:"stored"` // 0 if the sum is in the format of D
}

// ConstantOf returns the constant of products of K terms. The error says why no
// bound holds. It panics if k < 1.
func ConstantOf(by Implementation, k int) (Constant, error) {
	pkg.Count("k", k)
	z := Constant{Device: by.device().Name, K: k, Orders: by.Orders.String()}
	if err := by.check(); err != nil {
		return z, err
	}
	all, err := alternatives(bound.Problem{M: 1, N: 1, K: k}, by, roundoff.Never)
	if err != nil {
		return z, err
	}
	z.Relative = -1
	for _, bounds := range all {
		best := ceiling{}
		best.Constant = math.Inf(1)
		for _, c := range bounds {
			if c.Constant < best.Constant {
				best = c
			}
		}
		if best.Bound == "" {
			return z, fmt.Errorf("tolerance: no finite bound holds for %s and K = %d", z.Device, k)
		}
		if best.Constant > z.Relative {
			z.Relative, z.Bound = best.Constant, best.Bound
		}
		z.Underflow = max(z.Underflow, best.Underflow)
		if best.stores {
			u := by.output().UnitRoundoff()
			z.Stored = u / (1 - u) // of the rounded number
			z.Underflow = max(z.Underflow, best.Underflow+storing(0, by.output()))
		}
	}
	return z, nil
}

// C returns the name of the constant in C, as in
// ROUNDOFF_HOPPER_WGMMA_BINARY16_BINARY32_K4096.
func (z Constant) C() string {
	name := []byte("ROUNDOFF_" + z.Device)
	for i, c := range name {
		switch {
		case 'a' <= c && c <= 'z':
			name[i] = c - 'a' + 'A'
		case c == '-' || c == '.':
			name[i] = '_'
		}
	}
	return fmt.Sprintf("%s_K%d", name, z.K)
}
