package probe

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// sumsIntegers reports whether the device adds products of integers.
func sumsIntegers(d tcore.Device) bool {
	_, ok := d.Core.(tcore.WrappedSum)
	return ok
}

// integer returns the code of x, rounded to the nearest number of f.
func integer(f tcore.Format, x float64) uint64 { return f.Encode(x, tcore.ToNearestEven) }

// integerFactors is factors of a device of integers.
func (s *Sampler) integerFactors(regime int, order []int, x, y []uint64) {
	a, b := s.d.A, s.d.B
	switch {
	case Regimes[regime] == "cancel":
		s.cancelIntegers(order, x, y)
		return
	case Regimes[regime] == "overflow" && s.rng.IntN(4) == 0: // the greatest sums
		u, v := s.extreme(a), s.extreme(b)
		for k := range x {
			x[k], y[k] = u, v
		}
		return
	case Regimes[regime] == "zeros" && s.rng.IntN(4) == 0:
		clear(x)
		clear(y)
		return
	}
	for k := range x {
		x[k], y[k] = s.integerFactor(regime, a), s.integerFactor(regime, b)
	}
}

// cancelIntegers draws products in pairs that cancel, except that a quarter of
// the pairs has one factor changed by 1, and that they are equal if neither
// format has a sign. The order says which products are a pair.
func (s *Sampler) cancelIntegers(order []int, x, y []uint64) {
	a, b := s.d.A, s.d.B
	for i := 0; i < len(x); i += 2 {
		u, v := a.Decode(s.raw(a)), b.Decode(s.raw(b))
		x[order[i]], y[order[i]] = integer(a, u), integer(b, v)
		if i+1 == len(x) {
			break
		}
		switch {
		case a.Sign == tcore.TwosComplement:
			u = -u
		case b.Sign == tcore.TwosComplement:
			v = -v
		}
		if s.rng.IntN(4) == 0 {
			v++
		}
		x[order[i+1]], y[order[i+1]] = integer(a, u), integer(b, v)
	}
}

// integerFactor returns a code of f, drawn from the regime.
func (s *Sampler) integerFactor(regime int, f tcore.Format) uint64 {
	x := s.rng.NormFloat64()
	rare := s.rng.IntN(8) == 0
	switch Regimes[regime] {
	case "outliers":
		if rare {
			return s.raw(f)
		}
		x *= 4
	case "wide":
		x = s.spread(f)
	case "subnormal":
		x = float64(s.rng.IntN(3) - 1)
	case "rawbits":
		return s.raw(f)
	case "overflow":
		return s.extreme(f)
	case "ties":
		x = 0
		if s.rng.IntN(4) == 0 {
			x = s.sign()
		}
	case "zeros":
		if s.rng.IntN(3) > 0 {
			return 0
		}
		return s.raw(f)
	case "specials":
		if rare {
			return s.extreme(f)
		}
		fallthrough
	default:
		x *= f.Max() / 3
	}
	return integer(f, x)
}

// integerAddend is addend of a device of integers.
func (s *Sampler) integerAddend(regime int) uint64 {
	f := s.d.C
	reach := math.Ldexp(1, f.Emax+1) // of magnitudes
	switch Regimes[regime] {
	case "wide":
		return integer(f, s.spread(f))
	case "cancel":
		if s.rng.IntN(2) == 0 {
			return 0
		}
		return integer(f, s.spread(f))
	case "subnormal":
		return integer(f, float64(s.rng.IntN(3)-1))
	case "rawbits":
		return s.raw(f)
	case "specials":
		if s.rng.IntN(8) == 0 {
			return s.extreme(f)
		}
	case "overflow":
		return integer(f, s.sign()*(reach-float64(s.rng.IntN(1<<20))))
	case "ties":
		return s.extreme(f)
	case "zeros":
		if s.rng.IntN(3) > 0 {
			return 0
		}
		return s.raw(f)
	}
	return integer(f, s.rng.NormFloat64()*math.Ldexp(1, f.Emax/2))
}

// extreme returns the code of one of the two least or greatest numbers of f.
func (s *Sampler) extreme(f tcore.Format) uint64 {
	away := float64(s.rng.IntN(2))
	if s.rng.IntN(2) == 0 {
		return integer(f, f.Max()-away)
	}
	return integer(f, f.Round(math.Inf(-1), tcore.ToNearestEven)+away)
}

// spread returns a number of either sign whose magnitude has a logarithm that
// is uniform over those of f.
func (s *Sampler) spread(f tcore.Format) float64 {
	return s.sign() * math.Exp2(s.rng.Float64()*float64(f.Precision))
}

// integerGrid draws the regimes of grids alone: every c is -S for "opposite",
// and 2^31 - S for "threshold", changed by up to two units, where S is the sum
// of its products.
func (s *Sampler) integerGrid(g grid, regime, k int) {
	s.draw(g, [...]int{0, 2, 5, 7}[s.rng.IntN(4)], k)
	sums := make([]uint64, len(g.c))
	s.d.GridCodes(k, g.x, g.y, g.c, sums) // every c is 0
	for i, sum := range sums {
		c := uint32(s.rng.IntN(5)) - 2 - uint32(sum)
		if gridRegimes[regime] == "threshold" {
			c += 1 << 31
		}
		g.c[i] = uint64(c)
	}
}

// integers is Infer of a unit of integers.
func (p *prober) integers() (Record, error) {
	a, b := p.d.A, p.d.B
	r := Record{Instruction: p.d.Instruction}
	add := r.add

	const ones = 0xff // 255, or -1
	sign := func(code int32) string { return choose(code == ones, "0 to 255", "-128 to 127") }
	seen := 0
	for k := range p.k {
		if p.sum(0, map[int]codes{k: {1, 1}}) == 1 {
			seen++
		}
	}
	add(true, "block", "%d products", seen)
	add(true, "A", "%s", sign(p.sum(0, map[int]codes{0: {ones, 1}})))
	add(true, "B", "%s", sign(p.sum(0, map[int]codes{0: {1, ones}})))

	exact, greatest, all := true, a.Max()*b.Max(), map[int]codes{}
	for k := range p.k {
		all[k] = codes{integer(a, a.Max()), integer(b, b.Max())}
		exact = exact && float64(p.sum(0, all)) == float64(k+1)*greatest
	}
	add(true, "sums of products", "%s", choose(exact, "exact", "not exact"))

	up := p.sum(math.MaxInt32, map[int]codes{0: {1, 1}})
	add(true, "2^31 - 1 + 1", "%d", up)
	wraps := up == math.MinInt32
	minus, below := p.minusOne()
	down := p.sum(math.MinInt32, map[int]codes{0: minus})
	add(below, "-2^31 - 1", "%d", down)
	if below {
		wraps = wraps && down == math.MaxInt32
	}
	add(true, "order in a block", "%s", choose(p.orderFree(p.k), "free", "matters"))

	if exact && wraps && seen == p.k {
		r.Core = tcore.WrappedSum{Terms: seen}
	}
	p.predict(&r)
	return r, p.err
}

// codes are those of the factors of a product.
type codes struct{ x, y uint64 }

// minusOne returns a product -1; ok is false if neither format has a sign.
func (p *prober) minusOne() (minus codes, ok bool) {
	switch {
	case p.d.A.Sign == tcore.TwosComplement:
		return codes{0xff, 1}, true
	case p.d.B.Sign == tcore.TwosComplement:
		return codes{1, 0xff}, true
	}
	return codes{}, false
}

// sum returns the unit's result of c plus products of integers, given by their
// indices.
func (p *prober) sum(c int32, products map[int]codes) int32 {
	x, y, d := make([]uint64, p.k), make([]uint64, p.k), make([]uint64, 1)
	for k, factors := range products {
		x[k], y[k] = factors.x, factors.y
	}
	p.dots(x, y, []uint64{uint64(uint32(c))}, d)
	return int32(uint32(d[0]))
}
