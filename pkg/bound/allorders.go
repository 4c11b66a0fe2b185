package bound

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// Orders are all plans of package plan whose Runs are on one device and that
// lose no products and have no scales, with any cuts, folds, groups and tiles.
// The zero value has no other limits, and merges in binary32 alone.
type Orders struct {
	// Group is the number of products that every instruction adds, but the last of
	// a Run and the last of those that a Tile puts first; 0 means any number. A
	// Run may be short, as a part of one product is.
	Group int

	// Runs is the most Runs of a sum that are not empty, as where K is split into
	// so many parts; 0 means any number. It matters where results are rounded to
	// formats of few bits, or where Group is set.
	Runs int

	// Partial and Running are the formats to which merges may round parts and
	// sums, as [plan.Merge] says; the zero value rounds to none.
	Partial, Running tcore.Format
}

// AllOrders returns two bounds on D, whichever of the orders computes it: what
// the test of a kernel needs whose split of K is not known. They are called
// all-orders, which always holds, and all-orders-random, which holds for any
// single order with confidence 1 - e^f, on devices that round to nearest. Of
// the machine of the problem they read the device and the Output. AllOrders
// panics if the sizes are invalid, the device is none for a plan, Group is not
// in 0 to the products of a block, Runs < 0, a format is wider than binary32,
// or unless -Inf < f < 0.
//
// Let m be the number of Runs that are not empty and n_i the products of the
// i-th, Σn_i = K and so n_i <= K-m+1, S = Σ|p| = ΣS_i, and u = 2^-24. A zero
// that fills a block, an empty part and a start at +0 change nothing.
//
// A device that aligns n products in any instructions, keeps F bits and
// truncates errs by at most ((n-1)2^-F + 2u'r) S_i, with u' of its result and r
// instructions that round. For an instruction of g products loses less than
// 2^-F(|s| + Σ|p|) with each of its terms but the greatest, and 2u'(|s| + Σ|p|)
// where its result is cut off; and as truncation never makes a sum larger, |s|
// + Σ|p| is at most S_i. All instructions lose g2^-F in total, n2^-F; but the
// first has no s, so one less. If a product alone fits the result, the first of
// many rounds nothing or has two products or more: r <= n-1. If all have Group
// products, r is also at most ⌈n/Group⌉.
//
// The m results are numbers of binary32, of sizes Σ|ŝ_i| <= S. Added in any
// order with rounding to nearest they err by at most (m-1)uΣ|ŝ_i| (Jeannerod &
// Rump 2013). So the constant is the greatest over m of
//
//	(K-m)2^-F + 2u'r(K-m+1) + (m-1)u,
//
// which is (K-1)(2^-F + 2u'), that of one chain, where r = n-1.
//
// On a device that rounds every sum to binary32, the same holds with (K-1)u in
// total, also where chains add products by FMAs. Let e_a <= (n_a-1)uS_a and e_b
// be the errors of two sums, or e_b = 0 and b an exact sum of n_b products, a a
// number of binary32. Rounding a + b errs by at most u|a + b|, |b|, and if b is
// a number too, |a|. If S_b <= uS_a, take |b| <= S_b + e_b; if S_a <= uS_b,
// |a|, or u|a + b|; else u|a + b| <= u(S_a + S_b + e_a + e_b). In each case it
// is at most n_b uS_a + n_a uS_b, which is what (n_a+n_b-1)u(S_a+S_b) allows
// beside e_a and e_b. Where a product is rounded by itself, it is replaced by
// one that is off by u, which has the constant u + (K-1)u(1+u).
//
// Where results are rounded to nearest after alignment, in two stages, or to a
// format of few bits, a sum may grow: factors 1 + w of the steps and merges on
// the way of a product are multiplied. There are at most n-1 or n steps and m-1
// merges, and at most m roundings to each format: one after its Run, and one
// after each merge, since a number of a format stays there.
//
// In all-orders-random, the tree has a height of at most K-1, or K if products
// are rounded ([roundoff.Tree]).
//
// Source: derived here; Jeannerod & Rump 2013; Hallman & Ipsen 2023.
func AllOrders(k Problem, o Orders, f roundoff.Failure) []Result {
	k.Machine = tcore.Machine{Name: k.Name, Device: k.Device, Output: k.Output}
	k.planned = nil
	k.check()
	if !(roundoff.Never < f && f < 0) {
		panic(fmt.Sprintf("bound: failure = %v, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is", float64(f)))
	}
	if o.Runs < 0 {
		panic(fmt.Sprintf("bound: Runs = %d, want Runs >= 0", o.Runs))
	}
	of := plan.Plan{Order: plan.Parts{
		Cut: plan.Cut{Length: 1}, Each: plan.Run{Device: k.Device, Group: o.Group}, Merge: plan.Merge{Partial: o.Partial, Running: o.Running},
	}, Output: k.Output}
	if err := of.Check(); err != nil {
		panic(fmt.Sprintf("bound: %v", err))
	}
	s := shape{chains: map[int]int{k.K: 1}, length: k.K, steps: o.allSteps(k.K), carried: tcore.Binary32}
	for _, f := range o.formats() {
		s.round(f, 2*o.runs(k.K)-1) // of results and of sums
	}
	k.Name = ""
	k.planned = &planned{Plan: of, device: k.Device, known: map[int]shape{k.K: s}}
	return []Result{o.always().result(k, f, nan, false), o.random().result(k, f, nan, false)}
}

// runs returns the most Runs of K products.
func (o Orders) runs(k int) int {
	if o.Runs == 0 {
		return k
	}
	return min(o.Runs, k)
}

// formats returns the formats of parts and sums that are not binary32.
func (o Orders) formats() (all []tcore.Format) {
	for _, f := range []tcore.Format{o.Partial, o.Running} {
		if f != (tcore.Format{}) && (len(all) == 0 || all[0] != f) {
			all = append(all, f)
		}
	}
	return all
}

func (o Orders) always() Bound {
	return Bound{
		Name:    "all-orders",
		Source:  "derived; Jeannerod & Rump 2013",
		Formula: `\max_m\ (K-m)\,2^{-F} + 2u'r(K-m+1) + (m-1)\,u`,
		Model:   Model{Name: "any order", Fails: unordered},
		Constant: func(k Problem, _ roundoff.Failure) Value {
			if unordered(k) != "" {
				return plain(nan)
			}
			return plain(o.constant(k))
		},
	}
}

func (o Orders) random() Bound {
	m := MeanIndependent
	fails := m.Fails
	m.Fails = func(k Problem) string {
		if why := unordered(k); why != "" {
			return why
		}
		if len(o.formats()) > 0 {
			return "sums are rounded to more than one format"
		}
		return fails(k)
	}
	return Bound{
		Name:    "all-orders-random",
		Source:  "Hallman & Ipsen 2023",
		Formula: `u\sqrt{2(K-1)\ell}\,(1+\varphi)`,
		Model:   m,
		Assumes: "for one order, chosen before the product",
		Constant: func(k Problem, f roundoff.Failure) Value {
			height := k.K
			if k.exactProducts() {
				height--
			}
			if height == 0 {
				return plain(0)
			}
			u := max(k.coarsest(), tcore.Binary32.UnitRoundoff())
			return plain(roundoff.Tree(float64(height), height, 2*k.K, u, f.Split(k.Outputs())))
		},
	}
}

// unordered returns why there is no bound for all orders on the device, or "".
func unordered(k Problem) string {
	switch c := k.Device.Core.(type) {
	case tcore.Chain, tcore.ExactSum, tcore.TwoStage:
		return ""
	case tcore.Fused:
		bits := max(k.Device.A.Precision+k.Device.B.Precision-2, c.Result.Precision-1)
		if c.Group == 0 && bits <= c.FractionBits {
			return ""
		}
	}
	return "no bound for all orders is known of instructions as those of " + k.Device.Name
}

// constant returns that of the derivation, the greatest over m.
func (o Orders) constant(k Problem) float64 {
	u, formats := tcore.Binary32.UnitRoundoff(), o.formats()
	if k.Device.C == tcore.Binary32 && len(formats) == 0 && o.Group == 0 && o.Runs == 0 {
		switch k.Device.Core.(type) {
		case tcore.Chain, tcore.ExactSum:
			return roundoff.Compose(k.alone(u), float64(k.K-1)*u)
		}
	}
	c, cut := k.Device.Core.(tcore.Fused)
	cut = cut && c.Rounding != tcore.ToNearestEven
	most := 0.0
	for m := 1; m <= o.runs(k.K); m++ {
		z := o.chain(k, k.K-m+1)
		merges := float64(m-1) * u
		switch {
		case len(formats) == 0 && cut:
			z += merges
		case len(formats) == 0:
			z = roundoff.Compose(z, merges)
		default:
			z = roundoff.Compose(z, roundoff.Compound(m-1, u))
			for _, f := range formats {
				z = roundoff.Compose(z, roundoff.Compound(m, f.UnitRoundoff()))
			}
		}
		most = max(most, z)
	}
	return most
}

// alone returns the error of a product that is rounded by itself, with unit
// roundoff u.
func (k Problem) alone(u float64) float64 {
	if k.exactProducts() {
		return 0
	}
	return u
}

// steps returns how often a chain of n products rounds at most.
func (o Orders) steps(n int, exact bool) int {
	steps := n
	if exact {
		steps--
	}
	if o.Group > 0 {
		steps = min(steps, (n+o.Group-1)/o.Group)
	}
	return steps
}

// allSteps returns how many instructions all Runs of k products have at most.
func (o Orders) allSteps(k int) int {
	if o.Group == 0 {
		return k
	}
	return min(k, k/o.Group+o.runs(k))
}

// chain returns the constant of a Run of n products.
func (o Orders) chain(k Problem, n int) float64 {
	u := k.Device.C.UnitRoundoff()
	switch c := k.Device.Core.(type) {
	case tcore.Fused:
		t := k.truncation(c)
		w := math.Ldexp(1, k.subnormalBits()-t.FractionBits)
		steps := o.steps(n, k.Device.A.Precision+k.Device.B.Precision <= c.Result.Precision)
		if t.Nearest {
			return roundoff.Compose(roundoff.Compound(n-1, w), roundoff.Compound(steps, t.Unit))
		}
		return float64(n-1)*w + float64(steps)*2*t.Unit
	case tcore.TwoStage:
		return truncation.TwoStage(c.Terms, o.steps(n, false), u)
	case tcore.Chain:
		return roundoff.Compose(k.alone(u), float64(n-1)*u)
	}
	if steps := o.steps(n, k.exactProducts()); steps > 0 { // ExactSum
		return roundoff.Compound(steps, u)
	}
	return 0
}
