package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// underflow returns η, what underflow can add to an error that is at most
// constant × Σ|xy| in its absence, for finite results: (1 + constant)η₀, where
// η₀ is what it can do to the products.
//
// An operation that errs by no more than e where its result is subnormal is one
// without that error on products of which one is e larger. So a chain that
// underflows computes what it would without underflow from products p' with
// Σ|p'-p| <= η₀, and the constant is of Σ|p'|.
func (k Problem) underflow(constant float64) float64 {
	η := k.storing()
	if z := k.underflows(); z > 0 {
		η += float64(k.parts()) * z
	}
	if η == 0 {
		return 0
	}
	if math.IsNaN(constant) {
		return nan
	}
	return (1 + constant) * η
}

// storing returns what underflow does to one output before its chains, where A
// and B are converted, and after them, where it is stored.
func (k Problem) storing() float64 {
	η := 0.0
	if out, from := k.output(), k.carried(); out.Precision < from.Precision {
		η += halfStep(out, from.MinSubnormal())
	}
	if k.Represented {
		x, y := k.factors()
		ex, ey := conversionStep(k.Device.A, k.Device.Convert), conversionStep(k.Device.B, k.Device.Convert)
		if k.RangeX.known() && k.RangeX.below(k.Device.A.Emin) == 0 {
			ex = 0
		}
		if k.RangeY.known() && k.RangeY.below(k.Device.B.Emin) == 0 {
			ey = 0
		}
		η += float64(k.K) * (ex*y.max + ey*x.max + ex*ey)
	}
	return η
}

// conversionStep returns how far a subnormal number of f can be from what was
// converted.
func conversionStep(f tcore.Format, mode tcore.RoundingMode) float64 {
	if mode == tcore.ToNearestEven {
		return f.MinSubnormal() / 2
	}
	return f.MinSubnormal()
}

// halfStep returns half the distance of subnormal numbers of f, which rounding
// to nearest of multiples of grid errs by at most where the result is one; 0 if
// all are multiples of it.
func halfStep(f tcore.Format, grid float64) float64 {
	if step := f.MinSubnormal(); grid < step {
		return step / 2
	}
	return 0
}

// underflows returns what underflow does to the products of one chain.
func (k Problem) underflows() float64 {
	n, q := float64(k.Length()), float64(k.Blocks())
	grid := k.productGrid()
	if k.stochastic() { // which errs by the whole distance
		n, q = 2*n, 2*q
	}
	switch c := k.Device.Core.(type) {
	case tcore.Chain:
		η := n * halfStep(k.Device.C, grid)
		switch k.Order {
		case tcore.InPairs: // products are rounded, and sums of what is rounded do not underflow
			return η
		case tcore.Compensated: // products and their errors are rounded, and the sum of all is
			return 5 * η
		}
		return η
	case tcore.TensorCore:
		η := n*halfStep(c.Product, grid) + n*halfStep(c.Accumulate, max(grid, c.Product.MinSubnormal()))
		carried := max(grid, c.Accumulate.MinSubnormal())
		return η + q*(halfStep(c.Output, carried)+halfStep(c.High, max(grid, c.Output.MinSubnormal())))
	case tcore.ExactSum:
		return q * halfStep(k.Device.C, grid)
	case tcore.Pairwise:
		x, y := k.factors()
		η := min(x.sum*y.max+y.sum*x.max, n*max(x.tiny*y.max, y.tiny*x.max))
		if normal := k.Device.C.MinNormal(); k.flushedGrid() < normal {
			η += (2*n + q) * normal
		}
		return η
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

// productGrid returns a power of two that divides every product of numbers of A
// and B.
func (k Problem) productGrid() float64 { return k.Device.A.MinSubnormal() * k.Device.B.MinSubnormal() }

// flushedGrid is productGrid where subnormal factors count as 0.
func (k Problem) flushedGrid() float64 {
	return k.Device.A.MinNormal() * k.Device.A.UnitRoundoff() * 2 * k.Device.B.MinNormal() * k.Device.B.UnitRoundoff() * 2
}

// tiny returns what the power of two that a product is aligned by does not
// exceed if it is larger than the product, a factor of it being a subnormal
// number of f or g; 0 if there are none.
func (k Problem) tiny(f, g tcore.Format) float64 {
	k.Device.A, k.Device.B = f, g
	x, y := k.factors()
	return max(x.tiny*y.max, y.tiny*x.max, x.tiny*y.tiny)
}

// aligned returns by how much more than its constant a step of a machine that
// aligns can err, where the exponent that it aligns to is that of a subnormal
// number or of zero, or its sum is subnormal.
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
