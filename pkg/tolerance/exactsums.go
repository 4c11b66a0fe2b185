package tolerance

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
)

// exactSums is the bound of outputs all of whose sums are exact.
var exactSums = bound.Result{
	Bound:      "exact-sums",
	Absolute:   math.Inf(1),
	Lambda:     math.NaN(),
	Confidence: roundoff.Never,
	Holds:      true,
	Why:        "always: every sum of products of these numbers fits the bits that are kept",
	Source:     "derived here",
}

// A span is what the numbers of a row of A or a column of B have in common.
type span struct {
	last int // all are multiples of 2^last
	top  int // none is aligned to a greater exponent, that of its scale included
}

// exact returns for each output whether no sum of its products can have a
// rounding error on the device, in any order, however K is cut. It is nil if
// that is not known of the device.
//
// Let g be the power of two that divides the products of an output, and S their
// Σ|xy|. Every sum of some of them is a multiple of g of size at most S: it is
// a number of p bits if S <= 2^p g, and alignment to E cuts nothing off if
// 2^(E-F) <= g. E is at most the greatest exponent of a product, of S, or that
// of zero.
//
// Source: derived here; that integers of few bits are added exactly is
// folklore.
func (d *Data) exact(by Implementation) []bool {
	device := by.device()
	if by.Orders == AnyOrder || by.Plan != nil || device.ScaleBlock > 0 && d.scaled == nil {
		return nil
	}
	precision, least, aligned, fraction := device.C.Precision, device.C, math.MinInt, 0
	core := device.Core
	if c, ok := core.(tcore.Split); ok {
		core = c.By // of two halves, whose sums are then added in C
	}
	switch c := core.(type) {
	case tcore.Chain:
	case tcore.Fused:
		precision, aligned, fraction = min(precision, c.Result.Precision), max(c.ZeroExponent, device.C.Emin), c.FractionBits
		if c.Result.Emin > least.Emin {
			least = c.Result
		}
	default:
		return nil
	}
	if least.Subnormals != tcore.Kept {
		return nil
	}
	grid := math.Ilogb(least.MinSubnormal())
	if device.C.Precision <= tcore.Binary32.Precision { // parts are added in it
		precision, grid = min(precision, tcore.Binary32.Precision), max(grid, math.Ilogb(tcore.Binary32.MinSubnormal()))
	}
	rows, columns := d.spans(device)
	z := make([]bool, len(d.Sizes.Data))
	for i, size := range d.Sizes.Data {
		x, y := rows[i/d.Sizes.Cols], columns[i%d.Sizes.Cols]
		size *= 1 + 0x1p-50 // it was rounded
		g := x.last + y.last
		switch {
		case size == 0:
			z[i] = true
		case g < grid || size > math.Ldexp(1, precision+g) || size > device.C.Max():
		case aligned > math.MinInt && max(x.top+y.top, math.Ilogb(size), aligned)-fraction > g:
		default:
			z[i] = true
		}
	}
	return z
}

// spans returns those of the rows of A and of the columns of B.
func (d *Data) spans(device tcore.Device) (rows, columns []span) {
	of := func(m blas32.General, f tcore.Format, scale func(i, l int) float64) (all []span) {
		for i := range m.Rows {
			s := span{last: math.MaxInt32, top: math.MinInt32}
			for l, x := range matrix.Row(m, i) {
				u, e := 1.0, 0
				if device.ScaleBlock > 0 {
					u = scale(i, l)
					e = max(math.Ilogb(u), device.Scale.Emin)
				}
				if x == 0 {
					continue
				}
				s.last = min(s.last, lastBit(float64(x)))
				s.top = max(s.top, max(math.Ilogb(float64(x)/u), f.Emin)+e)
			}
			if c, ok := device.Core.(tcore.Fused); ok && c.Group > 0 && s.last < math.MaxInt32 {
				s.top = math.MinInt32 // a group has the exponent of its scales
				for l := range m.Cols {
					s.top = max(s.top, max(math.Ilogb(scale(i, l)), device.Scale.Emin))
				}
			}
			all = append(all, s)
		}
		return all
	}
	decode := func(code uint8) float64 { return math.Abs(device.Scale.Decode(uint64(code))) }
	k, n := d.A.Cols, d.B.Cols
	blocks := 0
	if device.ScaleBlock > 0 {
		blocks = (k + device.ScaleBlock - 1) / device.ScaleBlock
	}
	rows = of(d.A, device.A, func(i, l int) float64 { return decode(d.scaled.a.Scales[i*blocks+l/device.ScaleBlock]) })
	columns = of(matrix.Transpose(d.B), device.B, func(j, l int) float64 { return decode(d.scaled.b.Scales[l/device.ScaleBlock*n+j]) })
	return rows, columns
}

// lastBit returns the exponent of the last bit of x that is not 0.
func lastBit(x float64) int {
	fraction, exp := math.Frexp(x)
	n := int64(math.Ldexp(fraction, 53))
	last := exp - 53
	for ; n&1 == 0; n >>= 1 {
		last++
	}
	return last
}
