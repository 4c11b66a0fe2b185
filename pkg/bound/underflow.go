package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// underflow returns η, the most that underflow can add to an error that is at
// most constant × Σ|xy| without it, for finite results: (1 + constant)η₀, where
// η₀ is the most that it can change the products by. It is NaN if constant is
// and η₀ is not 0.
//
// An operation with an error of at most e where its result is subnormal is
// equivalent to one without that error, applied to products one of which is
// changed by at most e. So a chain with underflow computes what it would
// compute without underflow from products p' with Σ|p'-p| <= η₀, and its error
// is at most constant × Σ|p'|.
func (k Problem) underflow(constant float64) float64 {
	η := k.storing()
	if z := k.chainUnderflow(); z > 0 {
		η += z
	}
	if η == 0 {
		return 0
	}
	if math.IsNaN(constant) {
		return nan
	}
	return (1 + constant) * η
}

// storing returns the effect of underflow on one output outside its chains:
// where A and B are converted, and where the output is stored.
func (k Problem) storing() float64 {
	η := k.converting()
	if out, from := k.output(), k.carried(); out.Precision < from.Precision {
		η += halfStep(out, from.MinSubnormal())
	}
	return η
}

// converting returns the effect of underflow on |Â||B̂| - |A||B|, where A and B
// are converted.
func (k Problem) converting() float64 {
	if !k.Represented {
		return 0
	}
	x, y := k.factors()
	ex, ey := conversionStep(k.Device.A, k.Device.Convert), conversionStep(k.Device.B, k.Device.Convert)
	if k.RangeX.known() && k.RangeX.below(k.Device.A.Emin) == 0 {
		ex = 0
	}
	if k.RangeY.known() && k.RangeY.below(k.Device.B.Emin) == 0 {
		ey = 0
	}
	return float64(k.K) * (ex*y.max + ey*x.max + ex*ey)
}

// conversionStep returns the largest error of a conversion to f whose result is
// subnormal.
func conversionStep(f tcore.Format, mode tcore.RoundingMode) float64 {
	if mode == tcore.ToNearestEven {
		return f.MinSubnormal() / 2
	}
	return f.MinSubnormal()
}

// halfStep returns half the spacing of subnormal numbers of f, the largest
// error of rounding a multiple of grid to a subnormal number to nearest. It
// returns 0 if all multiples of grid are multiples of the spacing.
func halfStep(f tcore.Format, grid float64) float64 {
	if step := f.MinSubnormal(); grid < step {
		return step / 2
	}
	return 0
}

// underflows returns the effect of underflow on the products of one chain.
func (k Problem) underflows() float64 {
	n, q := float64(k.Length()), float64(k.Blocks())
	grid := k.productGrid()
	pairs := math.Ceil(n / 2)
	if k.stochastic() { // its errors reach the whole spacing
		n, q, pairs = 2*n, 2*q, 2*pairs
	}
	switch c := k.Device.Core.(type) {
	case tcore.Chain:
		η := n * halfStep(k.Device.C, grid)
		switch k.Order {
		case tcore.InPairs: // products are rounded; sums of rounded products are exact if subnormal
			return η
		case tcore.Compensated: // products and their errors are rounded, and so is the final sum
			return 5 * η
		}
		return η
	case tcore.TensorCore:
		η := n*halfStep(c.Product, grid) + n*halfStep(c.Accumulate, max(grid, c.Product.MinSubnormal()))
		carried := max(grid, c.Accumulate.MinSubnormal())
		return η + q*(halfStep(c.Output, carried)+halfStep(c.High, max(grid, c.Output.MinSubnormal())))
	case tcore.ExactSum:
		return q * halfStep(k.Device.C, grid)
	case tcore.Pairwise: // n products, and as many sums, or fewer
		return k.flushed(2*n + q)
	case tcore.EvenOdd: // n FMAs, the sum of both chains, and c
		return k.flushed(n + 2*q)
	case tcore.OddFirst:
		return k.flushed(n)
	case tcore.OddPairs: // n products, sums of pairs, and c
		return k.flushed(n + 2*pairs)
	case tcore.FusedPairs: // sums of pairs; those of rounded sums are exact if subnormal
		return pairs * halfStep(k.Device.C, grid)
	case tcore.Fused:
		return q * k.aligned(c, k.Device.A, k.Device.B)
	case tcore.Split:
		return 2 * q * k.aligned(c.By, tcore.Binary16, tcore.Binary16)
	case tcore.TwoStage:
		unit := math.Ldexp(float64(c.Terms+1), -24) + 0x1p-30
		return q * (unit*max(k.tiny(k.Device.A, k.Device.B), k.Device.C.MinNormal()) + halfStep(k.Device.C, 0))
	}
	return math.Inf(1)
}

// flushed returns the effect of underflow on a machine that replaces subnormal
// factors and subnormal results of the given number of operations by zeros.
func (k Problem) flushed(operations float64) float64 {
	η, grid := 0.0, k.productGrid()
	if k.flushesFactors() {
		x, y := k.factors()
		η, grid = min(x.sum*y.max+y.sum*x.max, float64(k.Length())*max(x.tiny*y.max, y.tiny*x.max)), k.flushedGrid()
	}
	if normal := k.Device.C.MinNormal(); grid < normal {
		η += operations * normal
	}
	return η
}

// flushesFactors reports whether subnormal factors count as zeros on a machine
// that flushes: where they are subnormal in the format of the sums as well, and
// on a Pairwise.
func (k Problem) flushesFactors() bool {
	_, pairwise := k.Device.Core.(tcore.Pairwise)
	return pairwise || min(k.Device.A.MinSubnormal(), k.Device.B.MinSubnormal()) < k.Device.C.MinNormal()
}

// productGrid returns a power of two that divides every product of a number of
// the format of A and one of B.
func (k Problem) productGrid() float64 { return k.Device.A.MinSubnormal() * k.Device.B.MinSubnormal() }

// flushedGrid is productGrid for a machine that flushes subnormal factors to 0.
func (k Problem) flushedGrid() float64 {
	return k.Device.A.MinNormal() * k.Device.A.UnitRoundoff() * 2 * k.Device.B.MinNormal() * k.Device.B.UnitRoundoff() * 2
}

// tiny returns an upper bound of the power of two to which a product is aligned
// where that is larger than the product because a factor is a subnormal number
// of f or g; 0 if no factor is subnormal.
func (k Problem) tiny(f, g tcore.Format) float64 {
	k.Device.A, k.Device.B = f, g
	x, y := k.factors()
	return max(x.tiny*y.max, y.tiny*x.max, x.tiny*y.tiny)
}

// aligned returns the most by which the error of a step of a machine that
// aligns can exceed its constant times Σ|xy|. That happens where the step is
// aligned to the exponent of a subnormal number or of zero, or its sum is
// subnormal.
func (k Problem) aligned(c tcore.Fused, f, g tcore.Format) float64 {
	t := k.truncation(c)
	most := max(math.Ldexp(1, c.ZeroExponent), k.Device.C.MinNormal())
	if k.subnormalBits() == 0 {
		most = max(most, k.tiny(f, g))
	}
	step := c.Result.MinSubnormal()
	if t.Nearest {
		step /= 2
	}
	return math.Ldexp(float64(t.Terms), -t.FractionBits)*most + step
}
