package quantisation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A node is a number x of a law, its rounding error delta = x̂ - x, and the
// probability that it stands for.
type node struct{ x, delta, weight float64 }

// The rule of Gauss on [-1, 1], which integrates polynomials of degree 11.
var gaussX, gaussW = func() (x, w [6]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

// nodes returns nodes of a law for the rounding x̂ = s fl(x/s), s = scale, to
// nearest, with numbers beyond f replaced by its greatest. No cell has a number
// of cuts inside.
func (l Law) nodes(f tcore.Format, scale float64, cuts []float64) []node {
	f.Overflow = tcore.Saturate
	lo, hi := l.bounds()
	most := max(math.Abs(lo), math.Abs(hi))
	edges, cell := codeEdges(f, scale), codeCell
	if f.Bits() > 8 {
		edges, cell = binadeEdges(f, scale, most), binadeCell
	}
	cuts = append(slices.Clone(cuts), 0)
	for _, x := range edges {
		cuts = append(cuts, x, -x)
	}
	cuts = append(cuts, l.Knots...)
	slices.Sort(cuts)
	var list []node
	for i, x := range cuts[1:] {
		if from, to := max(cuts[i], lo), min(x, hi); from < to {
			list = cell(list, l, f, scale, from, to)
		}
	}
	total := 0.0
	for _, n := range list {
		total += n.weight
	}
	for i := range list {
		list[i].weight /= total
	}
	return list
}

// codeEdges returns the positive boundaries between numbers that round to
// different codes: the midpoints of neighbours.
func codeEdges(f tcore.Format, scale float64) []float64 {
	var values []float64
	for code := range uint64(1) << f.Bits() {
		if x := f.Decode(code); x >= 0 && x <= f.Max() {
			values = append(values, x)
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	edges := make([]float64, len(values)-1)
	for i, x := range values[1:] {
		edges[i] = (values[i] + x) / 2 * scale
	}
	return edges
}

// codeCell appends the nodes of an interval of numbers that all round to the
// same one.
func codeCell(list []node, l Law, f tcore.Format, scale, lo, hi float64) []node {
	mid, half := (lo+hi)/2, (hi-lo)/2
	rounded := f.Round(mid/scale, tcore.ToNearestEven) * scale
	for i, g := range gaussX {
		x := mid + float64(half*g)
		list = append(list, node{x, rounded - x, half * gaussW[i] * l.Density(x)})
	}
	return list
}

// binades is how many binades below the greatest number have nodes of their
// own. The numbers below count as having the spacing of the greatest of them.
const binades = 24

// binadeEdges returns the positive numbers at which the spacing of f changes,
// and its greatest number.
func binadeEdges(f tcore.Format, scale, most float64) []float64 {
	edges := []float64{f.Max() * scale}
	top := min(f.Emax, math.Ilogb(most/scale))
	for e := top; e > f.Emin && e > top-binades; e-- {
		edges = append(edges, math.Ldexp(scale, e))
	}
	return append(edges, math.Ldexp(scale, max(f.Emin, top-binades)))
}

// binadeCell appends the nodes of an interval of numbers between which f has
// one spacing h: nodes of the number times nodes of the error, which is uniform
// on ±h/2 but for its mean. That is the integral of the error times the
// density, by parts: S times the density at both ends, where S' is the error
// and S has mean zero over a spacing. What is left out is of order h³.
func binadeCell(list []node, l Law, f tcore.Format, scale, lo, hi float64) []node {
	mid, half := (lo+hi)/2, (hi-lo)/2
	if greatest := f.Max() * scale; math.Abs(mid) > greatest {
		return codeCell(list, l, f, scale, lo, hi)
	}
	size := max(math.Abs(lo), math.Abs(hi))
	e := math.Ilogb(size / scale)
	if math.Ldexp(scale, e) == size {
		e-- // the upper end of a binade
	}
	h := math.Ldexp(scale, max(e, f.Emin)-f.Precision+1)
	sawtooth := func(x float64) float64 {
		r := x - float64(h*math.RoundToEven(x/h))
		return float64(h*h/24) - float64(r*r/2)
	}
	var weight [len(gaussX)]float64
	mass := 0.0
	for i, g := range gaussX {
		weight[i] = half * gaussW[i] * l.Density(mid+float64(half*g))
		mass += weight[i]
	}
	if mass == 0 {
		return list
	}
	mean := (float64(sawtooth(hi)*l.Density(hi)) - float64(sawtooth(lo)*l.Density(lo))) / mass
	for i, g := range gaussX {
		x := mid + float64(half*g)
		for j, d := range gaussX {
			list = append(list, node{x, mean + float64(h/2*d), weight[i] * gaussW[j] / 2})
		}
	}
	return list
}
