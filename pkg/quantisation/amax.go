package quantisation

import (
	"math"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// All as Length of a Factor says that blocks are whole rows of A or columns of
// B, as Others that they are whole across them. One scale for a matrix has
// both.
const All = math.MaxInt

// of returns the factor in a product of K products, as one of so many rows of A
// or columns of B, with numbers in place of All.
func (x Factor) of(K, vectors int) Factor {
	if x.Length == All {
		x.Length = K
	}
	if x.Others == All {
		x.Others = (vectors - 1) * x.Length
	}
	return x
}

// scaled reports whether blocks have scales.
func (x Factor) scaled() bool { return len(x.Scales) > 0 || x.Aim != 0 }

// amaxes returns the classes of blocks with s = amax / Aim, one for each node
// of the rule of Gauss for the density of amax = X in between the knots of the
// law and the ends of shells. Let F be the probability that |x| <= X, f its
// density at ±X, L the length of a block and O the number of other elements
// with its scale. Then amax is
//
//	in the block, with density L f F^(L+O-1): one element is ±X, and the others of the block are at most X,
//	out of it, with density O f F^(L+O-1): all elements of the block are at most X.
func (x Factor) amaxes(length int) table {
	t := x.table()
	lo, hi := x.Law.bounds()
	most := max(math.Abs(lo), math.Abs(hi))
	total := x.Law.integral(lo, hi, one)
	logF := x.Law.logWithin()
	level := func(l float64) float64 { return x.Law.amax(logF, length+x.Others, l) }
	from := level(-math.Log(rare))
	if x.Least > from {
		from = min(x.Least, most)
		c := x.class(x.Least/x.Aim, from, 0, &t)
		c.pLow = 0
		t.add(c)
	}
	cuts := []float64{from, most}
	for _, k := range x.Law.Knots {
		if k > lo && k < hi && math.Abs(x.Law.Density(k*(1+1e-9))/x.Law.Density(k*(1-1e-9))-1) < 1e-6 {
			continue // the density is continuous there
		}
		cuts = append(cuts, math.Abs(k))
	}
	for _, s := range x.shells {
		cuts = append(cuts, math.Abs(s[0]), math.Abs(s[1]))
	}
	before := from
	for _, l := range levels {
		X := level(l)
		if l < 2 && most-X < X-before { // a density that does not fall is smooth up to its end
			break
		}
		cuts, before = append(cuts, X), X
	}
	slices.Sort(cuts)
	f := x.Format
	f.Overflow = tcore.Saturate
	for i, b := range cuts[1:] {
		a := cuts[i]
		if a < from || b > most || b-a < 1e-13*b {
			continue
		}
		for k, g := range gaussX {
			X := (a+b)/2 + float64((b-a)/2*g)
			scale := X / x.Aim
			c := x.class(scale, X, 0, &t)
			δ := f.Round(x.Aim, tcore.ToNearestEven)*scale - X
			density := 0.0
			for _, y := range [2]float64{-X, X} {
				if lo <= y && y <= hi {
					c.apex = append(c.apex, node{y, δ * y / X, x.Law.Density(y) / total})
					density += x.Law.Density(y) / total
				}
			}
			weight := (b - a) / 2 * gaussW[k]
			c.pApex = weight * math.Exp(float64(x.Others)*logF(X))
			c.pAll, c.pLow = 0, 0
			if x.Others > 0 {
				c.pAll = weight * density * float64(x.Others) * math.Exp(float64(x.Others-1)*logF(X))
			}
			t.add(c)
		}
	}
	return t
}

// logWithin returns log P(|x| <= X) as a function of X.
func (l Law) logWithin() func(X float64) float64 {
	lo, hi := l.bounds()
	total := l.integral(lo, hi, one)
	return func(X float64) float64 {
		if within := l.integral(-X, X, one) / total; within < 0.5 {
			return math.Log(within)
		}
		return math.Log1p(-(l.integral(lo, -X, one) + l.integral(X, hi, one)) / total)
	}
}

// amax returns X with P(amax <= X) = e^-level for the greatest magnitude of so
// many numbers, where logF is logWithin.
func (l Law) amax(logF func(X float64) float64, number int, level float64) float64 {
	lo, hi := l.bounds()
	X, most := 0.0, max(math.Abs(lo), math.Abs(hi))
	for step := most / 2; step > 1e-14*most; step /= 2 {
		if -logF(X+step)*float64(number) > level {
			X += step
		}
	}
	return X
}

// rounded32 bounds what roundings to binary32 change in the mean of âb̂, as a
// part of E|a|E|b|, to the first order: to find a scale, to divide by it and to
// multiply by it takes eight roundings at most in each factor. They move the
// cells of numbers that round to the same one, and those numbers. What they
// change in the deviation is as small relative to the deviation. With a scale
// of the tensor besides those of blocks there are nine at most, which count as
// sixteen.
const rounded32 = 8 * 0x1p-24

// levels are P(amax <= X) = e^-l in between which six nodes are enough: the
// lower tail, of a power of F, and the upper one, where a density may fall as
// fast as that of a normal law.
var levels = []float64{20, 10, 5, 2, 0.1, 1e-3, 1e-5}

// slack returns the allowance for binary32 of the factor, as a part of
// E|a|E|b|.
func (x Factor) slack() float64 {
	switch {
	case x.Aim != 0:
		return rounded32
	case x.Tensor != 0:
		return 2 * rounded32
	}
	return 0
}

func one(float64) float64 { return 1 }

// integral returns that of g times the density, by the rule of Gauss between
// the knots. g is smooth but at 0.
func (l Law) integral(from, to float64, g func(x float64) float64) float64 {
	sum := 0.0
	knots := append(slices.Clone(l.Knots), 0)
	slices.Sort(knots)
	for i, b := range knots[1:] {
		a, b := max(knots[i], from, l.Knots[0]), min(b, to, last(l.Knots))
		if a >= b {
			continue
		}
		for k, x := range gaussX {
			y := (a+b)/2 + float64((b-a)/2*x)
			sum += float64((b - a) / 2 * gaussW[k] * l.Density(y) * g(y))
		}
	}
	return sum
}

// size returns E|x|.
func (l Law) size() float64 {
	lo, hi := l.bounds()
	return l.integral(lo, hi, math.Abs) / l.integral(lo, hi, one)
}
