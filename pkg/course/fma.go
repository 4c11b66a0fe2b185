package course

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Rat returns x as a fraction, exactly. It panics if x is not finite.
func Rat(x float64) *big.Rat { return rat(x) }

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func abs(a *big.Rat) *big.Rat    { return new(big.Rat).Abs(a) }

// rounded returns the fraction rounded to p bits, to nearest, ties to even: fl
// without underflow or overflow.
func rounded(p int, x *big.Rat) float64 {
	exact := new(big.Float).SetPrec(4000).SetRat(x) // dyadic: exact
	r, _ := exact.SetPrec(uint(p)).Float64()
	return r
}

// triple is the operands of a multiply-add.
type triple struct{ a, b, c float64 }

func (t triple) String() string { return fmt.Sprintf("%v, %v, %v", t.a, t.b, t.c) }

// exact returns ab + c.
func (t triple) exact() *big.Rat { return add(mul(rat(t.a), rat(t.b)), rat(t.c)) }

// triples returns 300 triples of operands in binary64, of both signs, whose
// exact results are at least 2⁻¹⁰ in size and whose computed results are not 0.
// In a third of them c nearly cancels ab. If round is true, the operands are
// numbers of the format.
func triples(f tcore.Format, rng *rand.Rand, round bool) []triple {
	one := func() float64 { return math.Copysign(1+rng.Float64(), rng.Float64()-0.5) }
	var ts []triple
	for len(ts) < 300 {
		t := triple{one(), one(), 4 * one()}
		if len(ts)%3 == 0 {
			t.c = -t.a * t.b * (1 + rng.Float64()/16)
		}
		stored := triple{fl(f, t.a), fl(f, t.b), fl(f, t.c)}
		if round {
			t = stored
		}
		z, _ := t.exact().Float64()
		mac := fl(f, fl(f, stored.a*stored.b)+stored.c)
		if math.Abs(z) >= 0x1p-10 && mac != 0 && stored.exact().Sign() != 0 {
			ts = append(ts, t)
		}
	}
	return ts
}

func fl(f tcore.Format, x float64) float64 { return f.Round(x, tcore.ToNearestEven) }

var multiplyFormats = []tcore.Format{tcore.Binary16, tcore.BFloat16, tcore.Binary32}

// equal panics unless the call returned exactly the fraction that is wanted.
func equal(call string, got, want *big.Rat) {
	if got == nil || got.Cmp(want) != 0 {
		failf("%s = %s, want %s", call, fraction(got), fraction(want))
	}
}

// within panics if |x| > bound |of|.
func within(call, name string, x *big.Rat, bound *big.Rat, of *big.Rat) {
	if most := mul(bound, abs(of)); abs(x).Cmp(most) > 0 {
		failf("%s: |%s| = %s, want at most %s", call, name, fraction(abs(x)), fraction(most))
	}
}

func fraction(x *big.Rat) string {
	if x == nil {
		return "nil"
	}
	v, _ := x.Float64()
	return fmt.Sprintf("%.17g", v)
}

// CheckRelativeError checks a function that returns δ = ẑ/z - 1 as a fraction,
// for computed ẑ and exact z.
func CheckRelativeError(relative func(computed float64, exact *big.Rat) *big.Rat, seed uint64) {
	defer watch("RelativeError")()
	rng := random(seed)
	for range 100 {
		z := big.NewRat(rng.Int64N(2000)-1000, 1+rng.Int64N(1000))
		computed := rng.Float64()*8 - 4
		if z.Sign() != 0 {
			want := add(new(big.Rat).Quo(rat(computed), z), big.NewRat(-1, 1))
			equal(fmt.Sprintf("RelativeError(%v, %v)", computed, z), relative(computed, new(big.Rat).Set(z)), want)
		}
	}
}

// CheckFMADelta checks a function that returns the δ in fl(ab + c) = (ab + c)(1
// + δ).
func CheckFMADelta(delta func(f tcore.Format, a, b, c float64) *big.Rat, seed uint64) {
	defer watch("FMADelta")()
	rng := random(seed)
	for _, f := range multiplyFormats {
		for _, t := range triples(f, rng, true) {
			z := t.exact()
			want := add(new(big.Rat).Quo(rat(rounded(f.Precision, z)), z), big.NewRat(-1, 1))
			equal(fmt.Sprintf("FMADelta(%s, %v)", f.Name, t), delta(f, t.a, t.b, t.c), want)
		}
	}
}

// CheckMACDeltas checks a function that returns the δ₁ and δ₂ in fl(ab) = ab(1
// + δ₁) and fl(fl(ab) + c) = (fl(ab) + c)(1 + δ₂).
func CheckMACDeltas(deltas func(f tcore.Format, a, b, c float64) (d1, d2 *big.Rat), seed uint64) {
	defer watch("MACDeltas")()
	rng := random(seed)
	for _, f := range multiplyFormats {
		for _, t := range triples(f, rng, true) {
			call := fmt.Sprintf("MACDeltas(%s, %v)", f.Name, t)
			ab := mul(rat(t.a), rat(t.b))
			p := rounded(f.Precision, ab)
			sum := add(rat(p), rat(t.c))
			d1, d2 := deltas(f, t.a, t.b, t.c)
			equal("δ₁ of "+call, d1, add(new(big.Rat).Quo(rat(p), ab), big.NewRat(-1, 1)))
			equal("δ₂ of "+call, d2, add(new(big.Rat).Quo(rat(rounded(f.Precision, sum)), sum), big.NewRat(-1, 1)))
		}
	}
}

// A Backward returns the perturbations for which a computed multiply-add is
// exact: of a and c, or of ab and c.
type Backward = func(f tcore.Format, a, b, c float64) (first, second *big.Rat)

// CheckBackwardFMA checks that fl(ab + c) = (a + Δa)b + (c + Δc) with |Δa| <=
// u|a|, |Δc| <= u|c|.
func CheckBackwardFMA(backward Backward, seed uint64) {
	checkFactor("BackwardFMA", backward, seed,
		func(f tcore.Format, t triple) float64 { return rounded(f.Precision, t.exact()) },
		func(u *big.Rat) (Δa, Δc *big.Rat) { return u, u })
}

// CheckBackwardMAC checks that fl(fl(ab) + c) = (a + Δa)b + (c + Δc) with |Δa|
// <= (2u + u²)|a| and |Δc| <= u|c|.
func CheckBackwardMAC(backward Backward, seed uint64) {
	checkFactor("BackwardMAC", backward, seed,
		func(f tcore.Format, t triple) float64 {
			p := rounded(f.Precision, mul(rat(t.a), rat(t.b)))
			return rounded(f.Precision, add(rat(p), rat(t.c)))
		},
		func(u *big.Rat) (Δa, Δc *big.Rat) { return add(add(u, u), mul(u, u)), u })
}

func checkFactor(name string, backward Backward, seed uint64, computed func(tcore.Format, triple) float64, bounds func(u *big.Rat) (Δa, Δc *big.Rat)) {
	defer watch(name)()
	rng := random(seed)
	for _, f := range multiplyFormats {
		boundA, boundC := bounds(rat(f.UnitRoundoff()))
		for _, t := range triples(f, rng, true) {
			call := fmt.Sprintf("%s(%s, %v)", name, f.Name, t)
			Δa, Δc := backward(f, t.a, t.b, t.c)
			if Δa == nil || Δc == nil {
				failf("%s has no value", call)
			}
			z := add(mul(add(rat(t.a), Δa), rat(t.b)), add(rat(t.c), Δc))
			equal(call+": (a+Δa)b + (c+Δc)", z, rat(computed(f, t)))
			within(call, "Δa", Δa, boundA, rat(t.a))
			within(call, "Δc", Δc, boundC, rat(t.c))
		}
	}
}

// CheckBackwardRepresented checks that the FMA of operands that are first
// rounded to the format is ab + Δp + c + Δc with |Δp| <= (u + γ₂ + uγ₂)|ab| and
// |Δc| <= (2u + u²)|c|.
func CheckBackwardRepresented(backward Backward, seed uint64) {
	const name = "BackwardRepresented"
	defer watch(name)()
	rng := random(seed)
	for _, f := range multiplyFormats {
		u := rat(f.UnitRoundoff())
		two := add(u, u)
		γ := new(big.Rat).Quo(two, new(big.Rat).Sub(big.NewRat(1, 1), two))
		for _, t := range triples(f, rng, false) {
			call := fmt.Sprintf("%s(%s, %v)", name, f.Name, t)
			Δp, Δc := backward(f, t.a, t.b, t.c)
			if Δp == nil || Δc == nil {
				failf("%s has no value", call)
			}
			p := f.Precision
			stored := triple{rounded(p, rat(t.a)), rounded(p, rat(t.b)), rounded(p, rat(t.c))}
			equal(call+": ab+Δp + c+Δc", add(t.exact(), add(Δp, Δc)), rat(rounded(p, stored.exact())))
			within(call, "Δp", Δp, add(add(u, γ), mul(u, γ)), mul(rat(t.a), rat(t.b)))
			within(call, "Δc", Δc, add(two, mul(u, u)), rat(t.c))
		}
	}
}

// CheckMixedFMA checks a multiply-add that rounds a and b to binary16 and c to
// binary32, rounds ab + c once to binary32, and that result to the format out.
func CheckMixedFMA(mixed func(out tcore.Format, a, b, c float64) float64, seed uint64) {
	defer watch("MixedFMA")()
	rng := random(seed)
	for _, out := range []tcore.Format{tcore.Binary32, tcore.Binary16, tcore.BFloat16} {
		u := out.UnitRoundoff()
		for _, t := range append(triples(tcore.Binary16, rng, false),
			triple{1, 1, u + 0x1p-26}, triple{1, 1, u + 0x1p-20}, triple{1 + 0x1p-12, 1, 0x1p-12}, triple{1 + 0x1p-10, 1 + 0x1p-10, 0}) {
			stored := triple{rounded(11, rat(t.a)), rounded(11, rat(t.b)), rounded(24, rat(t.c))}
			want := rounded(out.Precision, rat(rounded(24, stored.exact())))
			same(fmt.Sprintf("MixedFMA(%s, %v)", out.Name, t), mixed(out, t.a, t.b, t.c), want)
		}
	}
}

// CheckForwardBound checks a function that returns (P|ab| + A|c|)/|ab + c| for
// the constants P = Product and A = Addend of a bound.
func CheckForwardBound(forward func(b roundoff.MACBound, a, b2, c float64) float64, seed uint64) {
	defer watch("ForwardBound")()
	rng := random(seed)
	for range 200 {
		b := roundoff.MACBound{Product: rng.Float64(), Addend: rng.Float64()}
		t := triple{rng.Float64() - 0.5, rng.Float64() - 0.5, rng.Float64() - 0.5}
		size := add(mul(rat(b.Product), abs(mul(rat(t.a), rat(t.b)))), mul(rat(b.Addend), abs(rat(t.c))))
		exact, _ := size.Quo(size, abs(t.exact())).Float64()
		got := forward(b, t.a, t.b, t.c)
		if !(math.Abs(got-exact) <= 1e-9*exact) {
			failf("ForwardBound({Product: %v, Addend: %v}, %v) = %v, want %v", b.Product, b.Addend, t, got, exact)
		}
	}
}

// CheckCancellation checks that a, b and c are numbers of the format for which
// the relative error of fl(fl(ab) + c) is at least 100 %, and that of fl(ab +
// c) at most u.
func CheckCancellation(find func(f tcore.Format) (a, b, c float64)) {
	defer watch("Cancellation")()
	for _, f := range multiplyFormats {
		a, b, c := find(f)
		t := triple{a, b, c}
		call := fmt.Sprintf("Cancellation(%s) = %v", f.Name, t)
		if fl(f, a) != a || fl(f, b) != b || fl(f, c) != c || !finite(a) || !finite(b) || !finite(c) {
			failf("%s, not all of them numbers of the format", call)
		}
		z := t.exact()
		if z.Sign() == 0 {
			failf("%s, whose exact result is 0", call)
		}
		mac, fma := f.MAC(a, b, c, tcore.ToNearestEven), f.FMA(a, b, c, tcore.ToNearestEven)
		if abs(add(rat(mac), new(big.Rat).Neg(z))).Cmp(abs(z)) < 0 {
			failf("%s: two roundings give %v of %s, which is not wrong by 100 %%", call, mac, fraction(z))
		}
		if abs(add(rat(fma), new(big.Rat).Neg(z))).Cmp(mul(rat(f.UnitRoundoff()), abs(z))) > 0 {
			failf("%s: one rounding gives %v of %s, which is wrong by more than u", call, fma, fraction(z))
		}
	}
}

// Operands returns n triples of binary32 numbers drawn uniformly from [1, 2]:
// the data of assignment 3.
func Operands(n int, seed uint64) (a, b, c []float64) {
	rng := random(seed)
	for range n {
		for _, x := range []*[]float64{&a, &b, &c} {
			*x = append(*x, fl(tcore.Binary32, 1+rng.Float64()))
		}
	}
	return a, b, c
}

// CheckErrors checks the chart of assignment 3. It contains, for the 1000
// operands of seed 1, the empirical distributions of the relative errors of
// "MAC" and "FMA" in binary32 and of "MPFMA", from binary16 to binary32. It
// also contains verticals "FMA bound" at u and "MPFMA bound" at the coefficient
// of |ab| in the lemma with representation error.
func CheckErrors[C Chart](figure func() C) {
	defer watchFigure("Errors")()
	chart := figure()
	a, b, c := Operands(1000, 1)
	errs := map[string][]float64{}
	for i := range a {
		t := triple{a[i], b[i], c[i]}
		z := t.exact()
		mac := rounded(24, add(rat(rounded(24, mul(rat(t.a), rat(t.b)))), rat(t.c)))
		mixed := triple{rounded(11, rat(t.a)), rounded(11, rat(t.b)), t.c}
		for name, computed := range map[string]float64{
			"MAC": mac, "FMA": rounded(24, z), "MPFMA": rounded(24, mixed.exact())} {
			e, _ := new(big.Rat).Quo(abs(add(rat(computed), new(big.Rat).Neg(z))), z).Float64()
			errs[name] = append(errs[name], e)
		}
	}
	for _, name := range []string{"MAC", "FMA", "MPFMA"} {
		x, y := Distribution(errs[name])
		drawn("Errors", chart, name, x, y)
	}
	u, γ := 0x1p-24, gamma(2, 0x1p-11)
	ζ := 2*u + u*u
	drawn("Errors", chart, "FMA bound", []float64{u}, []float64{0})
	drawn("Errors", chart, "MPFMA bound", []float64{γ + ζ + γ*ζ}, []float64{0})
}

// Distribution returns the distinct positive samples in ascending order, and
// for each the share of samples that do not exceed it: the points of an
// empirical distribution on a logarithmic axis.
func Distribution(samples []float64) (x, y []float64) {
	sorted := slices.Sorted(slices.Values(samples))
	for i, v := range sorted {
		if v > 0 && (i+1 == len(sorted) || sorted[i+1] != v) {
			x, y = append(x, v), append(y, float64(i+1)/float64(len(sorted)))
		}
	}
	return x, y
}
