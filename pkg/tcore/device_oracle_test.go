package tcore

import (
	"math"
	"math/big"
)

// The oracle of devices computes with integers of arbitrary length, from the
// codes and the parameters of the device alone. It decodes by the bit fields of
// the published formats, aligns by shifting integers and rounds by the search
// of oracleRound.

// fields are the exponent bits, stored significand bits and bias of a format.
var fields = map[string]struct{ w, m, bias int }{
	"binary64": {11, 52, 1023}, "binary32": {8, 23, 127}, "tf32": {8, 23, 127}, "bfloat16": {8, 7, 127},
	"binary16": {5, 10, 15}, "e5m2": {5, 2, 15}, "e4m3": {4, 3, 7}, "e5m2fnuz": {5, 2, 16}, "e4m3fnuz": {4, 3, 8},
	"e3m2": {3, 2, 3}, "e2m3": {2, 3, 1}, "e2m1": {2, 1, 1}, "ue4m3": {4, 3, 7},
}

// oracleNumber is (-1)^neg × sig × 2^(exp-m), or NaN, or an infinity.
type oracleNumber struct {
	nan, inf, neg bool
	sig           int64
	exp, m        int
}

func oracleDecode(f Format, code uint64) oracleNumber {
	if f.Name == "e8m0" {
		return oracleNumber{nan: code == 255, sig: 1, exp: int(code) - 127}
	}
	p := fields[f.Name]
	if f.Name == "tf32" {
		code = code >> 13 << 13
	}
	n := oracleNumber{m: p.m, neg: code>>(p.w+p.m)&1 == 1 && f.Name != "ue4m3"}
	field, rest := int(code>>p.m&(1<<p.w-1)), int64(code&(1<<p.m-1))
	n.exp, n.sig = field-p.bias, rest|1<<p.m
	if field == 0 {
		n.exp, n.sig = 1-p.bias, rest
	}
	top := field == 1<<p.w-1
	switch f.Name {
	case "binary64", "binary32", "tf32", "bfloat16", "binary16", "e5m2":
		n.inf, n.nan = top && rest == 0, top && rest != 0
	case "e4m3", "ue4m3":
		n.nan = top && rest == 7
	case "e5m2fnuz", "e4m3fnuz":
		n.nan = code == 0x80
	}
	return n
}

func (n oracleNumber) value() *big.Float {
	v := new(big.Float).SetPrec(exactBits).SetInt64(n.sig)
	v.SetMantExp(v, n.exp-n.m)
	if n.neg {
		v.Neg(v)
	}
	return v
}

// float returns the number as a float64, -0 included.
func (n oracleNumber) float() float64 {
	switch {
	case n.nan:
		return math.NaN()
	case n.inf:
		return signed(math.Inf(1), n.neg)
	}
	v, _ := n.value().Float64()
	return signed(v, n.neg)
}

// oracleTerm is sig × 2^(exp-m).
type oracleTerm struct {
	sig    *big.Int
	exp, m int
}

func oracleProduct(x, y oracleNumber) oracleTerm {
	s := new(big.Int).Mul(big.NewInt(x.sig), big.NewInt(y.sig))
	if x.neg != y.neg {
		s.Neg(s)
	}
	return oracleTerm{s, x.exp + y.exp, x.m + y.m}
}

// units returns the term in units of 2^unit, rounded toward zero or down.
func (t oracleTerm) units(unit int, down bool) *big.Int {
	shift := t.exp - t.m - unit
	z := new(big.Int).Set(t.sig)
	if shift >= 0 {
		return z.Lsh(z, uint(shift))
	}
	d := new(big.Int).Lsh(big.NewInt(1), uint(-shift))
	if down {
		return z.Div(z, d) // Euclidean, d > 0: down
	}
	return z.Quo(z, d)
}

// oracleInput is one dot product.
type oracleInput struct {
	x, y, scaleX, scaleY []oracleNumber
	c                    oracleNumber
}

// oracleSpecial returns the result if an infinity or a NaN determines it.
func oracleSpecial(in oracleInput, limit float64) (float64, bool) {
	nan, plus, minus := in.c.nan, in.c.inf && !in.c.neg, in.c.inf && in.c.neg
	for i, x := range in.x {
		y := in.y[i]
		neg := x.neg != y.neg
		big := !x.nan && !y.nan && !x.inf && !y.inf && math.Abs(x.float()*y.float()) >= limit
		switch {
		case x.nan || y.nan, x.inf && !y.inf && y.sig == 0, y.inf && !x.inf && x.sig == 0:
			nan = true
		case (x.inf || y.inf || big) && neg:
			minus = true
		case x.inf || y.inf || big:
			plus = true
		}
	}
	for i := range in.scaleX {
		nan = nan || in.scaleX[i].nan || in.scaleY[i].nan
	}
	switch {
	case nan || plus && minus:
		return math.NaN(), true
	case plus || minus:
		return signed(math.Inf(1), minus), true
	}
	return 0, false
}

// oracleFused computes one block of a Fused core.
func oracleFused(d Device, f Fused, in oracleInput) float64 {
	if z, ok := oracleSpecial(in, math.Inf(1)); ok {
		return z
	}
	var terms []oracleTerm
	add := func(t oracleTerm, zero bool) {
		if zero {
			t.exp = f.ZeroExponent
		}
		terms = append(terms, t)
	}
	if f.Group > 0 {
		for g := 0; g < f.Terms/f.Group; g++ {
			sum, zero := new(big.Int), true
			for k := g * f.Group; k < (g+1)*f.Group; k++ {
				p := oracleProduct(in.x[k], in.y[k])
				zero = zero && p.sig.Sign() == 0
				sum.Add(sum, p.units(-2, false)) // e2m1: quarters
			}
			u, v := in.scaleX[g*f.Group/d.ScaleBlock], in.scaleY[g*f.Group/d.ScaleBlock]
			sum.Mul(sum, big.NewInt(u.sig*v.sig))
			add(oracleTerm{sum, u.exp + v.exp, u.m + v.m + 2}, zero || u.sig*v.sig == 0)
		}
	} else {
		for k := range in.x {
			p := oracleProduct(in.x[k], in.y[k])
			if d.ScaleBlock > 0 {
				p.exp += in.scaleX[k/d.ScaleBlock].exp + in.scaleY[k/d.ScaleBlock].exp
			}
			add(p, p.sig.Sign() == 0)
		}
	}
	c := oracleProduct(in.c, oracleNumber{sig: 1})
	add(c, c.sig.Sign() == 0)

	top := terms[0].exp
	for _, t := range terms {
		top = max(top, t.exp)
	}
	total := new(big.Int)
	for _, t := range terms {
		total.Add(total, t.units(top-f.FractionBits, false))
	}
	if total.Sign() == 0 {
		return 0
	}
	v := new(big.Float).SetPrec(exactBits).SetInt(total)
	v.SetMantExp(v, top-f.FractionBits)
	z := oracleRoundFused(f, v)
	if z == 0 && !f.NegativeTiny {
		return 0
	}
	return z
}

// oracleRoundFused is the last rounding of a Fused core, with the sign of v.
func oracleRoundFused(f Fused, v *big.Float) float64 {
	if f.Rounding == ToNearestEven {
		return oracleRound(f.Result, v, ToNearestEven)
	}
	// Toward zero in binary32, and then in its upper bits.
	if new(big.Float).Abs(v).Cmp(exactly(0x1p128)) >= 0 {
		return signed(math.Inf(1), v.Sign() < 0)
	}
	z := math.Float32bits(float32(oracleRound(Binary32, v, ToZero)))
	return float64(math.Float32frombits(z >> (24 - f.Result.Precision) << (24 - f.Result.Precision)))
}

// oracleBlock computes one block of any core.
func oracleBlock(d Device, in oracleInput) float64 {
	switch core := d.Core.(type) {
	case Fused:
		return oracleFused(d, core, in)
	case Split:
		return oracleSplit(d, core, in)
	case ExactSum:
		return oracleExactSum(d, core, in)
	case Pairwise:
		return oraclePairwise(d, in)
	case EvenOdd:
		return oracleEvenOdd(in)
	case OddFirst:
		x, y := flushedToZero(in.x), flushedToZero(in.y)
		return oracleFlushed(x[0], y[0], oracleFlushed(x[1], y[1], toZero(in.c)))
	case OddPairs:
		x, y, z := flushedToZero(in.x), flushedToZero(in.y), toZero(in.c)
		for k := 0; k < len(x); k += 2 {
			pair := oracleOdd(oracleOdd(x[k], y[k], math.Copysign(0, -1)), 1, oracleOdd(x[k+1], y[k+1], math.Copysign(0, -1)))
			z = oracleOdd(z, 1, pair)
		}
		return z
	case FusedPairs:
		z := in.c.float()
		for k := 0; k < len(in.x); k += 2 {
			z = oracleStep(d.C, z, 1, oraclePair(d.C, in.x[k:k+2], in.y[k:k+2]))
		}
		return z
	case TwoStage:
		return oracleTwoStage(core, in)
	case Chain:
		return oracleStep(d.C, in.x[0].float(), in.y[0].float(), in.c.float())
	case TensorCore:
		z := in.c.float()
		for k := range in.x {
			p := oracleStep(core.Product, in.x[k].float(), in.y[k].float(), math.Copysign(0, -1))
			z = oracleStep(core.Accumulate, z, 1, p)
		}
		return z
	}
	panic("no oracle")
}

// oracleStep is a fused multiply-add, specials included.
func oracleStep(f Format, a, b, c float64) float64 {
	if !finite(a) || !finite(b) || !finite(c) {
		return math.FMA(a, b, c)
	}
	return oracleFMA(f, a, b, c, ToNearestEven)
}

func oracleSplit(d Device, core Split, in oracleInput) float64 {
	var halves [2]oracleInput
	for k := range in.x {
		h := &halves[k%4/2]
		wide := func(n oracleNumber) oracleNumber {
			return oracleDecode(Binary16, Binary16.Encode(n.float(), ToNearestEven))
		}
		h.x, h.y = append(h.x, wide(in.x[k])), append(h.y, wide(in.y[k]))
	}
	halves[0].c = oracleDecode(d.C, 0)
	z := oracleFused(d, core.By, halves[0])
	halves[1].c = oracleDecode(d.C, d.C.Encode(z, ToNearestEven))
	return oracleStep(d.C, oracleFused(d, core.By, halves[1]), 1, in.c.float())
}

func oracleExactSum(d Device, core ExactSum, in oracleInput) float64 {
	if z, ok := oracleSpecial(in, math.Inf(1)); ok {
		return z
	}
	sum, ieee := in.c.value(), in.c.float()
	for k := range in.x {
		p := in.x[k].value()
		sum.Add(sum, p.Mul(p, in.y[k].value()))
		ieee += in.x[k].float() * in.y[k].float()
	}
	switch {
	case sum.Sign() == 0 && core.SignedZeros && ieee == 0:
		return ieee // of zeros alone, or of numbers that cancel
	case sum.Sign() == 0:
		return 0
	}
	return oracleRound(d.C, sum, ToNearestEven)
}

func oraclePairwise(d Device, in oracleInput) float64 {
	input := func(f Format, n oracleNumber) float64 {
		if fields[f.Name].bias == 1-n.exp && n.sig < 1<<n.m {
			if n.sig == 0 {
				return n.float()
			}
			return 0
		}
		return n.float()
	}
	result := func(x float64) float64 {
		if math.Abs(x) < 0x1p-126 {
			return math.Copysign(0, x)
		}
		return x
	}
	var p []float64
	for k := range in.x {
		p = append(p, result(oracleStep(Binary32, input(d.A, in.x[k]), input(d.B, in.y[k]), math.Copysign(0, -1))))
	}
	add := func(x, y float64) float64 { return result(oracleStep(Binary32, x, 1, y)) }
	s := add(p[0], p[1])
	if len(p) == 4 {
		s = add(s, add(p[2], p[3]))
	}
	return add(input(d.C, in.c), s)
}

// oracleFlushed is xy + z, rounded as if exponents had no limit, and a zero of
// its sign if that is below 2^-126. Subnormal operands are zeros already.
func oracleFlushed(x, y, z float64) float64 {
	if !finite(x) || !finite(y) || !finite(z) || x*y == 0 {
		return oracleStep(Binary32, x, y, z)
	}
	s := new(big.Float).SetPrec(exactBits).SetFloat64(x)
	s.Mul(s, new(big.Float).SetFloat64(y))
	s.Add(s, new(big.Float).SetFloat64(z))
	r := new(big.Float).SetPrec(24).SetMode(big.ToNearestEven).Set(s)
	switch f, _ := r.Float64(); {
	case s.Sign() == 0:
		return oracleStep(Binary32, x, y, z)
	case math.Abs(f) < 0x1p-126:
		return math.Copysign(0, f)
	case math.Abs(f) >= 0x1p128:
		return math.Inf(s.Sign())
	default:
		return f
	}
}

// oracleOdd is xy + z rounded to odd: cut to 24 bits, the last of which is set
// if anything was cut. Before that, what is below 2^-126 is a zero of its sign,
// and what is not below 2^128 an infinity. Operands are not subnormal.
func oracleOdd(x, y, z float64) float64 {
	if !finite(x) || !finite(y) || !finite(z) || x*y == 0 {
		return x*y + z
	}
	s := new(big.Float).SetPrec(exactBits).SetFloat64(x)
	s.Mul(s, new(big.Float).SetFloat64(y))
	s.Add(s, new(big.Float).SetFloat64(z))
	if s.Sign() == 0 {
		return 0
	}
	e := s.MantExp(nil) // |s| in [2^(e-1), 2^e)
	switch {
	case e-1 < -126:
		return signed(0, s.Sign() < 0)
	case e > 128:
		return math.Inf(s.Sign())
	}
	bits, accuracy := new(big.Float).SetMantExp(new(big.Float).Abs(s), 24-e).Int64()
	if accuracy != big.Exact {
		bits |= 1
	}
	return math.Ldexp(float64(int64(s.Sign())*bits), e-24)
}

// oraclePair is x0y0 + x1y1, rounded once to nearest even.
func oraclePair(f Format, x, y []oracleNumber) float64 {
	p := [2]float64{x[0].float() * y[0].float(), x[1].float() * y[1].float()}
	if !finite(p[0]) || !finite(p[1]) || p[0] == 0 && p[1] == 0 {
		return p[0] + p[1]
	}
	s := x[0].value()
	s.Mul(s, y[0].value())
	s.Add(s, new(big.Float).SetPrec(exactBits).Mul(x[1].value(), y[1].value()))
	if s.Sign() == 0 {
		return 0
	}
	return oracleRound(f, s, ToNearestEven)
}

// toZero returns the number, or a zero of its sign if it is below 2^-126.
func toZero(n oracleNumber) float64 {
	if x := n.float(); n.nan || math.Abs(x) >= 0x1p-126 {
		return x
	}
	return signed(0, n.neg)
}

func flushedToZero(n []oracleNumber) (z []float64) {
	for _, v := range n {
		z = append(z, toZero(v))
	}
	return z
}

func oracleEvenOdd(in oracleInput) float64 {
	var sums [2]float64
	for k, x := range flushedToZero(in.x) {
		sums[k%2] = oracleFlushed(x, toZero(in.y[k]), sums[k%2])
	}
	return oracleFlushed(toZero(in.c), 1, oracleFlushed(sums[0], 1, sums[1]))
}

func oracleTwoStage(core TwoStage, in oracleInput) float64 {
	if z, ok := oracleSpecial(in, 0x1p128); ok {
		return z
	}
	exps, sums := [2]int{-999, -999}, [2]*big.Int{}
	for part := range core.Parts {
		var terms []oracleTerm
		for k := part; k < core.Terms; k += core.Parts {
			p := oracleProduct(in.x[k], in.y[k])
			if p.sig.Sign() == 0 {
				p.exp = -999
			}
			exps[part] = max(exps[part], p.exp)
			terms = append(terms, p)
		}
		sums[part] = new(big.Int)
		for _, t := range terms {
			sums[part].Add(sums[part], t.units(exps[part]-24, false))
		}
	}
	dot, top := oracleTerm{sums[0], exps[0], 24}, exps[0]
	if core.Parts == 2 {
		top = max(exps[0], exps[1])
		s := dot.units(top-24, true)
		s.Add(s, oracleTerm{sums[1], exps[1], 24}.units(top-24, true))
		dot = oracleTerm{s, top, 24}
	}
	c := oracleProduct(in.c, oracleNumber{sig: 1})
	e := max(top, c.exp)
	total := dot.units(e-32, true)
	if core.Parts == 1 || c.exp >= e-25 {
		cut := c.units(e-24, true)
		total.Add(total, cut.Lsh(cut, 8))
	}
	if total.Sign() == 0 {
		return 0
	}
	lead := max(e-32+total.BitLen()-1, -126)
	total = oracleTerm{total, e, 32}.units(lead-31, true)
	v := new(big.Float).SetPrec(exactBits).SetInt(total)
	return oracleRound(Binary32, v.SetMantExp(v, lead-31), ToNearestEven)
}

// oracleDot adds the blocks of a dot product of codes.
func oracleDot(d Device, v deviceVector) uint64 {
	decode := func(f Format, codes []uint64) []oracleNumber {
		z := make([]oracleNumber, len(codes))
		for i, code := range codes {
			z[i] = oracleDecode(f, code)
		}
		return z
	}
	x, y := decode(d.A, v.X), decode(d.B, v.Y)
	u, w := decode(d.Scale, v.ScaleX), decode(d.Scale, v.ScaleY)
	c, n := v.C, d.Core.width()
	for k := 0; k < len(x); k += n {
		in := oracleInput{x: x[k : k+n], y: y[k : k+n], c: oracleDecode(d.C, c)}
		if d.ScaleBlock > 0 {
			in.scaleX, in.scaleY = u[k/d.ScaleBlock:][:n/d.ScaleBlock], w[k/d.ScaleBlock:][:n/d.ScaleBlock]
		}
		z := oracleBlock(d, in)
		c = d.C.Encode(z, ToNearestEven)
	}
	return c
}
