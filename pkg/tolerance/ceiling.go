package tolerance

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A ceiling is what one bound says of the error of an output, before D is
// rounded to its format.
type ceiling struct {
	bound.Result
	parts, length int     // of K; 0 if that is not told
	stores        bool    // the sum is rounded to the format of D
	loss          float64 // that the sums of parts of every output lose, where all products have one sign
}

// covers reports whether c allows all that d allows.
func (c ceiling) covers(d ceiling) bool {
	return c.Constant >= d.Constant && c.Absolute >= d.Absolute && c.Underflow >= d.Underflow && (c.stores || !d.stores)
}

// alternatives returns for every number of parts that is possible the bounds
// that hold.
func alternatives(k bound.Problem, by Implementation, f roundoff.Failure) (all [][]ceiling, err error) {
	device, always := by.device(), f == roundoff.Never
	k.Machine = tcore.Machine{Device: device, Output: device.C}
	if always {
		f = roundoff.FailureOf(0.5) // of bounds that are not used
	}
	_, chain := device.Core.(tcore.Chain)
	if device.C.Precision > tcore.Binary32.Precision && !(by.Orders == OneMachine && by.Plan == nil && by.Machine.SplitK <= 1 && by.Machine.Promote == 0) {
		if !chain {
			return nil, fmt.Errorf("tolerance: %s adds in %s, want OneMachine", device.Name, device.C.Name)
		}
		return [][]ceiling{{wideSums(k)}}, nil
	}
	k.Output = tcore.Binary32
	if device.C.Precision > tcore.Binary32.Precision {
		k.Output = device.C
	}
	add := func(results []bound.Result, parts, length int, stores bool, loss float64) error {
		var hold []ceiling
		why := ""
		for _, r := range results {
			if r.Holds && !(always && r.Confidence != roundoff.Never) {
				hold = append(hold, ceiling{r, parts, length, stores, loss})
			} else if why == "" || r.Bound == bound.Truncation.Name {
				why = r.Why
			}
		}
		if len(hold) == 0 {
			return fmt.Errorf("tolerance: no bound holds for %s: %s", device.Name, why)
		}
		all = append(all, tightest(hold))
		return nil
	}
	each := f.Split(float64(randomBounds() + 1)) // and what truncation takes for sure
	switch {
	case by.Orders == AnyOrder:
		return all, add(bound.AllOrders(k, bound.Orders{}, f), 0, 0, by.output().Precision < tcore.Binary32.Precision, 0)
	case by.Plan != nil:
		p := *by.Plan
		p.Output = tcore.Binary32
		if k, err = k.Planned(p); err != nil {
			return nil, err
		}
		results, err := bound.Evaluate(k, each)
		if err != nil {
			return nil, err
		}
		return all, add(results, 0, 0, by.output().Precision < tcore.Binary32.Precision, 0)
	}
	out := k.Output
	for _, m := range by.machines(k.K) {
		k.Machine, k.Output = m, out
		results, err := bound.Evaluate(k, each)
		if err != nil {
			return nil, err
		}
		carried, parts := device.C, (k.K+k.Length()-1)/k.Length()
		if parts > 1 {
			carried = tcore.Binary32
		}
		loss := 0.0
		if !always {
			loss = k.LeastLoss(each)
		}
		if err := add(results, parts, k.Length(), by.output().Precision < carried.Precision, loss); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// wideSums returns the bound on sums in binary64 by additions and FMAs in any
// order.
func wideSums(k bound.Problem) ceiling {
	return ceiling{Result: bound.Result{
		Bound:      "any-order",
		Constant:   float64(k.K) * k.Device.C.UnitRoundoff(),
		Absolute:   math.Inf(1),
		Lambda:     math.NaN(),
		Underflow:  float64(2*k.K) * k.Device.C.MinSubnormal(),
		Confidence: roundoff.Never,
		Holds:      true,
		Why:        "always",
		Source:     "Jeannerod & Rump 2013",
	}}
}

// randomBounds returns how many bounds of the catalogue hold with a
// probability.
func randomBounds() (n int) {
	for _, b := range bound.Catalogue() {
		if b.Model.Random {
			n++
		}
	}
	return n
}

// tightest returns those of the bounds that no other one makes superfluous.
func tightest(all []ceiling) (kept []ceiling) {
	for i, c := range all {
		needed := true
		for j, d := range all {
			if i != j && c.covers(d) && (j < i || !d.covers(c)) {
				needed = false
			}
		}
		if needed {
			kept = append(kept, c)
		}
	}
	return kept
}

// merged returns the limit of an output where the sizes of the sums of its
// parts are known to add up to sums, which is less than |A||B| where products
// cancel: the bound on the chains, then m-1 roundings of computed sums.
func (c ceiling) merged(size, sums float64) float64 {
	chains := (c.Result.Parts.Accumulation + c.Result.Parts.Drift) * (1 + 0x1p-40) * size
	return chains + float64(c.parts-1)*tcore.Binary32.UnitRoundoff()*(sums+chains+c.Underflow) + c.Underflow
}

// merging returns a bound on the rest of the error of an output of one sign,
// but for what its chains lose: m-1 roundings of computed sums, where limit
// bounds all errors.
func (c ceiling) merging(size, limit float64) float64 {
	return float64(c.parts-1) * tcore.Binary32.UnitRoundoff() * (size + limit)
}

// storing returns the most that rounding numbers of at most this size to f to
// nearest changes them by.
func storing(most float64, f tcore.Format) float64 {
	least := f.MinSubnormal() / 2
	if f.Subnormals != tcore.Kept {
		least = f.MinNormal()
	}
	return max(most*f.UnitRoundoff(), least)
}
