package roundoff

import (
	"math"
	"strconv"
)

// UnitRoundoff returns u = 2^-p, the unit roundoff of a binary format of
// precision p: rounding z to nearest gives z(1+δ) with |δ| <= u. The precision
// counts the implicit bit: 11 for fp16 and tf32, 8 for bf16, 24 for fp32, 53
// for fp64. It panics unless 1 <= p <= 1074, the range in which 2^-p is a
// float64.
//
// Source: u = β^(1-p)/2 with β = 2 (Bhola & Duraisamy 2024, section 2.1).
func UnitRoundoff(p int) float64 {
	if p < 1 || p > 1074 {
		panic("roundoff: p = " + strconv.Itoa(p) + ", want 1 <= p <= 1074")
	}
	return math.Ldexp(1, -p)
}

// Roundoffs contains the unit roundoffs of a mixed-precision multiply-add z =
// ab + c, in the order of its operations.
//
// Like the paper, every bound of this package with Roundoffs as argument
// assumes that the product of two inputs is exact in the product format. No
// bound depends on Product.
type Roundoffs struct {
	Low        float64 // u_low: the inputs a and b
	High       float64 // u_high: the addend c
	Product    float64 // ũ: the product ab
	Accumulate float64 // ū: the sum ab + c
	Output     float64 // u_FMA: the stored result
}

// The two rows of the paper's table "Unit roundoff for Tensor Cores" (Bhola &
// Duraisamy 2024, Table 2): fp16 inputs, named by the format of C and D.
var (
	TensorCoreF32 = Roundoffs{Low: 0x1p-11, High: 0x1p-24, Product: 0x1p-24, Accumulate: 0x1p-24, Output: 0x1p-24}
	TensorCoreF16 = Roundoffs{Low: 0x1p-11, High: 0x1p-11, Product: 0x1p-24, Accumulate: 0x1p-11, Output: 0x1p-11}
)

// zeta returns ζ = ū + u_FMA + ū u_FMA: one rounding of the sum, one of the
// result.
func (r Roundoffs) zeta() float64 {
	check.Unit("Accumulate", r.Accumulate)
	check.Unit("Output", r.Output)
	return Compose(r.Accumulate, r.Output)
}

// exactProducts reports whether the product of two inputs fits the accumulation
// format, 2 p_low <= p̄: then 0 + ab is exact.
func (r Roundoffs) exactProducts() bool { return r.Low*r.Low >= r.Accumulate }
