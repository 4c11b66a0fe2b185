package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A quantisedProduct is what is known of a product of factors that recipes
// quantise. Let x̂ = c s r be a quantised number: c is that of its code, s the
// scale that the device takes, and r the one by which sums are multiplied; s
// and r are 1 where there are none. No c s has more than 53 bits.
//
// The device adds products Π = c s c′ s′, and as r is the same along K, the
// bound |D̂ - ΣΠ| <= β Σ|Π| + η is a statement on the products x̂x̂′ = Π r r′
// as well, with the same β, and with η r r′; if r and r′ are the same along
// each part of K that is promoted, it is one for each part. Every Π is a
// number, which the device aligns by the sum of the exponents of c, s, c′ and
// s′. Where all four are normal, |Π| is at least 2 to that power, which is all
// that the constant of aligned sums needs to know of a product. What subnormal
// numbers change is in [Problem.subnormalBits], or in η. Sums of groups of e2m1
// are aligned by the exponents of s and s′, and a Π that is not 0 is at least a
// quarter of that power: the two bits by which subnormal numbers of e2m1 count.
type quantisedProduct struct {
	conversion         // of ÂB̂ and |Â||B̂|
	device     Problem // the product of numbers c s
	outer      outer   // scales r
	least      float64 // if not 0, |A||B| is no less, where the statement on the conversion is true
	note       string  // what is assumed
	why        string  // why nothing is known, or ""
}

// An outer is what is known of scales r of A and t of B, by which sums are
// multiplied in binary32.
type outer struct {
	applied  bool    // whether they are, or the device has taken all scales
	greatest float64 // of rt
	column   float64 // the greatest t
}

// quantised returns what is known of the quantised factors, in a statement that
// fails with probability at most e^f if it is random.
func (k Problem) quantised(f roundoff.Failure) quantisedProduct {
	if why := k.Recipes.refuses(k.Machine); why != "" {
		return quantisedProduct{why: why}
	}
	if k.Given != nil {
		return k.quantisedGiven(f)
	}
	return k.quantisedLaws(f)
}

// ofCodes returns the problem of adding the products of the numbers of which
// codes and scales of the device tell the ranges x and y.
func (k Problem) ofCodes(x, y Range) Problem {
	k.Represented, k.Recipes, k.Given, k.Data, k.Run = false, nil, nil, nil, nil
	k.X, k.Y, k.RangeX, k.RangeY = Distribution{}, Distribution{}, x, y
	return k
}

// quantisedResults is [Problem.results] for quantised factors.
func (k Problem) quantisedResults(bounds []Bound, f roundoff.Failure) []Result {
	q := k.quantised(f.Split(2))
	results := make([]Result, len(bounds))
	for i, b := range bounds {
		results[i] = b.quantised(k, q, f)
	}
	return results
}

// quantised returns the result of a bound for quantised factors, of which q is
// known with half of the probability of failure e^f.
func (b Bound) quantised(k Problem, q quantisedProduct, f roundoff.Failure) Result {
	r := Result{Bound: b.Name, Constant: nan, Absolute: math.Inf(1), Lambda: nan, Confidence: roundoff.Never, Source: b.Source}
	if b.Model.Random || q.random {
		r.Confidence = f
	}
	switch {
	case b.Needs >= Sums:
		r.Why = fmt.Sprintf("needs %v, and there is none of quantised factors", b.Needs)
		return r
	case q.why != "":
		r.Why = q.why
		return r
	}
	share := f
	if q.random {
		share = f.Split(2)
	}
	r.Why = "there is no finite bound for so long a sum"
	for _, sums := range k.sums(q) {
		z := b.result(sums, share, 0, false)
		if !z.Holds {
			r.Why = z.Why
			return r
		}
		constant, underflow, parts := k.wholeQuantised(z, q)
		tried := Result{Constant: constant, Underflow: underflow, Absolute: r.Absolute}
		if constant < math.Inf(1) && !(r.Holds && k.relative(tried) >= k.relative(r)) {
			r.Constant, r.Underflow, r.Parts, r.Lambda = constant, underflow, parts, z.Lambda
			r.Holds, r.Why = true, q.assumes(z.Why)
		}
	}
	return r
}

// assumes returns the conditions under which the bound is valid, in words,
// given those for the sums.
func (q quantisedProduct) assumes(sums string) string {
	words := slices.DeleteFunc([]string{sums, q.note}, func(s string) bool { return s == "" || s == "always" })
	if len(words) == 0 {
		return "always"
	}
	return strings.Join(words, "; ")
}

// sums returns the problems of adding the products that the device multiplies,
// of which each bound takes the one that gives less: subnormal numbers of few
// bits count in the constant, or in what underflow adds. That is of no use
// where the least |A||B| is not known.
func (k Problem) sums(q quantisedProduct) []Problem {
	sums := q.device
	if q.outer.applied {
		sums.Output = tcore.Format{}
	}
	core, ok := sums.Device.Core.(tcore.Fused)
	if !ok || core.Group > 0 || sums.Device.A.Bits() > 6 || q.least == 0 && k.leastOutput() == 0 {
		return []Problem{sums}
	}
	apart := sums
	apart.subnormals = true
	return []Problem{sums, apart}
}

// wholeQuantised returns the constant of an output, what underflow adds, and
// the parts of the constant, given the result z for the sums of the device.
func (k Problem) wholeQuantised(z Result, q quantisedProduct) (constant, underflow float64, p Parts) {
	β, η := z.Constant, z.Underflow
	add := func(c float64) (part float64) {
		before := β
		β = roundoff.Compose(β, c)
		η *= 1 + c
		return β - before
	}
	p = z.Parts
	if q.outer.applied {
		// fl(fl(S r) t), or fl(S fl(r t)) with rt a normal number: each operation errs
		// by u, or by half the least number of binary32. Where the sums of parts of K
		// have their own r and t, β and η of each are multiplied by these, and the
		// parts are added as without them, but that an FMA rounds the first of them
		// when it adds it and not when it multiplies it.
		η *= q.outer.greatest
		terms := 1
		if k.Recipes.within(k.Device.ScaleBlock > 0) {
			terms = k.parts()
		}
		u := tcore.Binary32.UnitRoundoff()
		p.Storing += add(roundoff.Compose(u, u))
		η += float64(terms) * (1 + q.outer.column) * tcore.Binary32.MinSubnormal()
		if out := k.output(); out.Precision < tcore.Binary32.Precision {
			p.Storing += add(out.UnitRoundoff())
			η += halfStep(out, 0)
		}
	}
	p = Parts{q.error, p.Drift * q.sizes, p.Accumulation * q.sizes, p.Merging * q.sizes, p.Storing * q.sizes}
	underflow = η + β*q.tiny
	if q.least > 0 {
		p.Accumulation += underflow / q.least
		underflow = 0
	}
	return p.Sum(), underflow, p
}
