package quantisation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Rounding says how a factor is rounded: by a recipe, or, if that has no
// name, to numbers of a format without scales, of which the greatest replaces
// greater ones. Without scales it is to nearest, ties to even, or stochastic if
// the Bits of Stochastic are not 0; a recipe has its own.
type Rounding struct {
	Recipe     quant.Recipe
	Format     tcore.Format
	Stochastic tcore.Stochastic
}

// name returns that of the recipe or of the format.
func (r Rounding) name() string {
	if r.Recipe.Name != "" {
		return r.Recipe.Name
	}
	return r.Format.Name
}

// random returns how random bits round, with 0 Bits if none do.
func (r Rounding) random() tcore.Stochastic {
	if r.Recipe.Name != "" {
		return r.Recipe.Stochastic
	}
	return r.Stochastic
}

// format returns that of the numbers, in which greater ones become the
// greatest.
func (r Rounding) format() tcore.Format {
	f := r.Format
	if r.Recipe.Name != "" {
		f = r.Recipe.Element
	}
	f.Overflow = tcore.Saturate
	return f
}

// most returns w with |x̂ - x| <= w|x|' for numbers that are not clipped, where
// |x|' is the greater of |x| and the least normal number: u to nearest, 2u with
// random bits. Recipes divide by scales in binary32, with up to three
// roundings.
func (r Rounding) most() float64 {
	w := r.format().UnitRoundoff()
	if r.random().Bits > 0 {
		w *= 2
	}
	if r.Recipe.Name != "" {
		const division = 0x1p-22
		w += float64((1 + w) * division)
	}
	return w
}

// factor returns a factor of a law, for statements that fail with probability
// e^f. The error says why there is none.
func (r Rounding) factor(l Law, f roundoff.Failure) (Factor, error) {
	const least = -600 // the densities of laws without bounds end where their tails have e^-700
	const narrow, largest, smallest = 0x1p-30, math.MaxFloat32, 0x1p-100
	lo, hi := l.bounds()
	most := max(math.Abs(lo), math.Abs(hi))
	switch {
	case l.Interval != nil && f < least:
		return Factor{}, fmt.Errorf("quantisation: law %s has no bounds, and is cut at a confidence of 1 - e^%d", l.Name, least)
	case !(most <= largest && most >= smallest && hi-lo > narrow*most):
		return Factor{}, fmt.Errorf("quantisation: law %s, want numbers between %.3g and %.3g that differ by more than %.3g of the greatest", l.Name, smallest, largest, narrow)
	case r.random().Bits > 0:
		return Factor{}, fmt.Errorf("quantisation: %s: stochastic rounding, want rounding to nearest", r.name())
	case r.Recipe.Name != "":
		return Quantised(l, r.Recipe)
	default:
		return Factor{Law: l, Format: r.format()}, nil
	}
}

// A rounded is a matrix beside what it is rounded to.
type rounded struct {
	x, hat  blas64.General
	random  TwoPoint       // hat before its random bits are drawn, hat itself if there are none
	size    blas64.General // |x|': |x|, the least normal number times the scale if that is greater, 0 for 0
	most    float64        // see Rounding.most
	clipped string         // names an element with |x̂ - x| > most |x|', "" if there is none
}

// round rounds a factor of a product. The error names an element that is not
// finite, or for which the recipe has no number.
func (r Rounding) round(name string, x blas32.General, side quant.Side) (*rounded, error) {
	if i, j, found := matrix.NotFinite(x); found {
		return nil, fmt.Errorf("quantisation: %s(%d, %d) = %v, want a finite number", name, i, j, matrix.Row(x, i)[j])
	}
	z := &rounded{x: matrix.Float64(x), most: r.most()}
	f, bits := r.format(), r.random().Bits
	ratio, unit := z.x, matrix.Map64(func(float64) float64 { return 1 }, z.x)
	if r.Recipe.Name == "" {
		z.hat = matrix.New64(x.Rows, x.Cols)
		if bits > 0 {
			r.Stochastic.RoundSlice(f, z.hat.Data, z.x.Data, 0)
		} else {
			f.RoundSlice(z.hat.Data, z.x.Data, tcore.ToNearestEven)
		}
	} else {
		q, err := r.Recipe.Quantise(x, side)
		if err != nil {
			return nil, err
		}
		z.hat = q.Values()
		if bits > 0 {
			ratio = matrix.New64(x.Rows, x.Cols)
		}
		for i := range x.Rows {
			for j, v := range matrix.Row(x, i) {
				at := i*x.Cols + j
				unit.Data[at] = q.Unit(i, j)
				if bits > 0 {
					ratio.Data[at] = float64(q.Ratio(v, i, j))
				}
			}
		}
	}
	var err error
	if z.random, err = Exact(z.hat); err == nil && bits > 0 {
		clip := func(v float64) float64 { return max(-f.Max(), min(v, f.Max())) }
		if z.random, err = Rounded(matrix.Map64(clip, ratio), f, bits); err == nil {
			z.random, err = z.random.Times(unit)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w, where %s is rounded by %s", err, name, r.name())
	}
	z.size = elementwise(func(v, unit float64) float64 {
		if v == 0 {
			return 0
		}
		return max(math.Abs(v), f.MinNormal()*unit)
	}, z.x, unit)
	z.clipped = z.exceeds(name)
	return z, nil
}

// exceeds returns a sentence about the first element with |x̂ - x| > most |x|',
// whatever the random bits, "" if there is none.
func (z *rounded) exceeds(name string) string {
	for at, x := range z.x.Data {
		_, low, high := z.random.at(at/z.x.Cols, at%z.x.Cols)
		if max(high-low, math.Abs(low-x), math.Abs(high-x)) > z.most*z.size.Data[at] {
			return fmt.Sprintf("%s(%d, %d) = %.4g becomes %.4g, which is further than %.3g of it: clipped, or without a scale",
				name, at/z.x.Cols, at%z.x.Cols, x, z.hat.Data[at], z.most)
		}
	}
	return ""
}
