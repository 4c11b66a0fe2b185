package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A shape is what a plan makes of a number of products: the lengths of its
// chains, and what is done to their sums afterwards.
type shape struct {
	chains map[int]int // how many chains there are of each length
	lost   int         // products that no part has

	length int  // the most products of a chain
	steps  int  // the most steps of a chain
	short  bool // a step before the last of a chain has fewer products than others

	merging float64      // the sum is off by at most this times the sum of the sizes of the chains
	carried tcore.Format // of the sum

	// underflow is the most that rounding sums to formats with few exponents
	// changes them by in total, where the result is subnormal.
	underflow float64
	assumes   string
}

// shape returns that of K products.
func (k Problem) shape() shape {
	p := k.planned
	p.mu.Lock()
	defer p.mu.Unlock()
	z, ok := p.known[k.K]
	if !ok {
		z = k.shapeOf(p.Order, k.K)
		p.known[k.K] = z
	}
	return z
}

func (k Problem) shapeOf(o plan.Order, n int) shape {
	if r, ok := o.(plan.Run); ok {
		steps, short := r.Instructions(n)
		return shape{chains: map[int]int{n: 1}, length: n, steps: steps, short: short, carried: k.Device.C}
	}
	parts := o.(plan.Parts)
	lengths := parts.Cut.Lengths(n)
	z := shape{chains: map[int]int{}, lost: n, carried: k.Device.C}
	of := map[int]shape{}
	for _, length := range lengths {
		if length == 0 {
			continue
		}
		part, ok := of[length]
		if !ok {
			part = k.shapeOf(parts.Part(length), length)
			of[length] = part
		}
		z.lost += part.lost - length
		z.underflow += part.underflow
		for l, count := range part.chains {
			z.chains[l] += count
		}
	}
	for _, part := range of {
		z.length, z.steps, z.short = max(z.length, part.length), max(z.steps, part.steps), z.short || part.short
		z.merging = max(z.merging, part.merging)
		if part.carried.Precision > z.carried.Precision {
			z.carried = part.carried
		}
		z.assumes = part.assumes
	}
	z.merge(parts.Merge, lengths)
	return z
}

// merge adds what merging parts of the given lengths does.
func (z *shape) merge(m plan.Merge, lengths []int) {
	u := tcore.Binary32.UnitRoundoff()
	some, count := make([]bool, len(lengths)), 0
	for i, length := range lengths {
		if some[i] = length > 0; some[i] {
			count++
		}
	}
	grow := func(c float64) { z.merging = roundoff.Compose(z.merging, c) }
	if m.Scale != plan.Unscaled {
		grow(u) // the product of the scales, or that of a part and a scale
		grow(roundoff.SumOfNearest(count, u))
		z.carried, z.assumes = tcore.Binary32, "if no product with a scale is subnormal or overflows"
		return
	}
	if m.Partial != (tcore.Format{}) {
		if m.Partial.Precision < z.carried.Precision {
			grow(m.Partial.UnitRoundoff())
			z.carried = m.Partial
		}
		z.round(m.Partial, count)
	}
	folds := m.Folds
	if len(folds) == 0 {
		folds = []int{1}
	}
	for i, n := range folds {
		most, sums := 0, make([]bool, n)
		total := 0
		for t := range sums {
			met := 0
			for j := t; j < len(some); j += n {
				if some[j] {
					met++
				}
			}
			sums[t] = met > 0
			total += met
			most = max(most, met)
		}
		some = sums
		z.fold(m.Running, most, i == 0)
		if m.Running != (tcore.Format{}) {
			z.round(m.Running, total)
		}
	}
}

// fold adds what sums of at most n parts do that are not empty. A part that
// begins a sum of the first fold is rounded to the running format as well;
// those of later ones are already numbers of it.
func (z *shape) fold(running tcore.Format, n int, first bool) {
	u := tcore.Binary32.UnitRoundoff()
	if running == (tcore.Format{}) {
		if n > 1 {
			z.merging = roundoff.Compose(z.merging, roundoff.SumOfNearest(n-1, u))
			z.carried = tcore.Binary32
		}
		return
	}
	z.merging = roundoff.Compose(z.merging, roundoff.Compound(max(n-1, 0), u))
	rounded := n - 1
	if first && running.Precision < z.carried.Precision {
		rounded = n
	}
	z.merging = roundoff.Compose(z.merging, roundoff.Compound(max(rounded, 0), running.UnitRoundoff()))
	z.carried = running
}

// round adds what so many roundings to a format do beside relative errors: they
// may be subnormal, or overflow.
func (z *shape) round(f tcore.Format, count int) {
	step := halfStep(f, tcore.Binary32.MinSubnormal())
	if f.Subnormals != tcore.Kept {
		step = f.MinNormal()
	}
	z.underflow += float64(count) * step
	if f.Max() < tcore.Binary32.Max()/2 {
		z.assumes = "if no sum is beyond the numbers of " + f.Name
	}
}

// scaleSizes returns the greatest product of a scale of A and one of B, where
// parts have scales; 1 where they do not, NaN where it is not known.
func (k Problem) scaleSizes() float64 {
	if k.planned == nil {
		return 1
	}
	if _, scaled := k.planned.Scaled(); !scaled {
		return 1
	}
	if k.RangeX.Scale > 0 && k.RangeY.Scale > 0 {
		return k.RangeX.Scale * k.RangeY.Scale
	}
	return math.NaN()
}
