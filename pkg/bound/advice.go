package bound

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Advice is what a device offers a product that must be within a tolerance.
type Advice struct {
	Device   tcore.Device
	Tightest Result // of the bounds that hold; if none does, Why says so

	// Excess is the tightest error relative to |A||B| over the tolerance: at most 1
	// is within it, +Inf is no bound. The Underflow of Tightest is in it where
	// k.Data tells the least |A||B| of an output, and comes on top where nobody
	// looked.
	Excess float64

	LargestK int // up to which the product is within the tolerance, 0 if never; [LongestK] is as far as was looked

	Bytes      float64 // of A, B and D, each moved once
	BytesRatio float64 // over the least bytes of a device that meets the tolerance
	Peak       Peak    // the zero Peak where none is known
	TimeRatio  float64 // at the peak, over the shortest time of a device that meets it; NaN where no peak is known
}

// Meets reports whether the product is within the tolerance on the device.
func (a Advice) Meets() bool { return a.Excess <= 1 }

// LongestK is the longest sum that [Advise] looks at.
const LongestK = 1 << 24

// Advise returns for every device whether |D̂ - D| <= tolerance |A||B|
// elementwise, for all outputs together with a confidence of 1 - e^f, is
// guaranteed there by the catalogue, and what the product costs: the devices
// that meet the tolerance first, the fastest on top, then the others, the
// nearest on top. The device of the problem is not asked for. With
// k.Represented the factors are rounded to the formats of each device first,
// which then cannot be block-scaled or of so few bits that most numbers are
// subnormal.
//
// With k.Data only bounds are used whose assumptions it does not refuse, for
// other K as well, and underflow counts: the least |A||B| of an output is taken
// to be no less for longer sums, and in proportion for shorter ones. Without
// k.Data underflow is left out. Of overflow Advise knows what the distributions
// of the data tell.
//
// The error is that of [Evaluate]. It panics as Evaluate does, unless 0 <
// tolerance, if there is no device, or if k has an Order, is Stochastic or has
// a Run, which are of one machine.
func Advise(k Problem, tolerance float64, f roundoff.Failure, devices []tcore.Device) ([]Advice, error) {
	switch {
	case !(tolerance > 0):
		panic(fmt.Sprintf("bound: tolerance = %v, want tolerance > 0", tolerance))
	case len(devices) == 0:
		panic("bound: no device to advise on")
	case k.Order != tcore.InSequence || k.stochastic() || k.Run != nil:
		panic("bound: Advise with an Order, Stochastic or a Run, which are of one machine")
	}
	for _, d := range devices { // panics on the caller's goroutine
		k.Device = d
		k.check()
	}
	k.Device = devices[0]
	if _, err := Evaluate(k, f); err != nil {
		return nil, err
	}
	advice := make([]Advice, len(devices))
	var wait sync.WaitGroup
	longest := map[tcore.Device]func() int{} // of each arithmetic, whatever it is called
	for i, d := range devices {
		k, of := k, d
		k.Device = d
		of.Name, of.Architecture, of.Instruction = "", "", ""
		if longest[of] == nil {
			longest[of] = sync.OnceValue(func() int { return k.longest(tolerance, f) })
		}
		find := longest[of]
		wait.Go(func() {
			advice[i] = k.advise(tolerance, f)
			advice[i].LargestK = find()
		})
	}
	wait.Wait()
	compare(advice)
	return advice, nil
}

// advise returns the advice on the device of the problem, without ratios and
// LargestK.
func (k Problem) advise(tolerance float64, f roundoff.Failure) Advice {
	best := k.tightest(f)
	a := Advice{Device: k.Device, Tightest: best, Excess: k.relative(best) / tolerance, Bytes: k.bytes()}
	a.Peak, _ = PeakOf(k.Device)
	return a
}

// longest returns the LargestK of the problem's device.
func (k Problem) longest(tolerance float64, f roundoff.Failure) int {
	return largest(func(K int) float64 {
		k.K = K
		return k.relative(k.tightest(f)) / tolerance
	})
}

// tightest returns the tightest result that holds, or one that holds not, of
// +Inf. Bounds that do not hold are not evaluated.
func (k Problem) tightest(f roundoff.Failure) Result {
	none := Result{Constant: math.Inf(1), Absolute: math.Inf(1), Lambda: math.NaN(), Confidence: roundoff.Never, Why: "no bound of the catalogue holds"}
	if why := k.outOfRange(); why != "" {
		none.Why = why
		return none
	}
	bounds := slices.DeleteFunc(Catalogue(), func(b Bound) bool { return !k.knows(b.Needs) || b.fails(k) != "" })
	best := none
	for _, r := range k.results(bounds, f) {
		if r.Holds && k.relative(r) < k.relative(best) {
			best = r
		}
	}
	return best
}

// relative returns what the error of an output over its |A||B| does not exceed.
// The limit is of slower growth than |A||B|, so that the least |A||B| has the
// greatest; where that is not known, underflow is left out.
func (k Problem) relative(r Result) float64 {
	if least := k.leastOutput(); least > 0 {
		return r.Limit(least) / least
	}
	return r.Constant
}

// leastOutput returns what no |A||B| is below that is not 0; 0 if that is not
// known.
func (k Problem) leastOutput() float64 {
	if k.Data == nil || k.Data.Least == 0 {
		return 0
	}
	return k.Data.Least * min(1, float64(k.K)/float64(k.Data.k))
}

// outOfRange returns why numbers of the device's formats do not do for the
// data, or "".
func (k Problem) outOfRange() string {
	switch {
	case k.Represented && k.Device.ScaleBlock > 0:
		return "scales of blocks: a factor far below the greatest of its block is lost"
	case k.Represented && min(k.Device.A.Bits(), k.Device.B.Bits()) <= 6:
		return k.Device.A.Name + " has few normal numbers: conversion loses small factors"
	case !k.knows(Moments):
		return ""
	}
	if why := k.overflows(); why != "" {
		return why
	}
	if sum := float64(k.Length()) * math.Abs(k.X.Mean()*k.Y.Mean()); sum > k.Device.C.Max() {
		return fmt.Sprintf("sums are %.3g in the mean, %s ends at %.3g", sum, k.Device.C.Name, k.Device.C.Max())
	}
	return ""
}

// largest returns the largest K <= LongestK of which the excess is at most 1, 0
// if there is none. What is good for K is taken to be good for less. Each guess
// is from the power of K that is between the last two, and each other one in
// the middle.
func largest(excess func(K int) float64) int {
	low, high := 0, 1 // low is good, high may not be
	atLow, atHigh := 0., excess(1)
	for atHigh <= 1 {
		if high == LongestK {
			return high
		}
		low, atLow = high, atHigh
		high = min(16*high, LongestK)
		atHigh = excess(high)
	}
	for halve := false; high-low > 1; halve = !halve {
		middle := low + (high-low)/2
		x, y := math.Log(float64(low)), math.Log(float64(high))
		power := (y - x) / (math.Log(atHigh) - math.Log(atLow))
		if guess := math.Exp(x - power*math.Log(atLow)); !halve && float64(low) < guess && guess < float64(high) {
			middle = min(max(int(guess), low+1), high-1)
		}
		if z := excess(middle); z <= 1 {
			low, atLow = middle, z
		} else {
			high, atHigh = middle, z
		}
	}
	return low
}

// bytes returns the size of A, B and D, with the scales of block-scaled
// factors.
func (k Problem) bytes() float64 {
	m, n, K := float64(k.M), float64(k.N), float64(k.K)
	bits := m*K*storage(k.Device.A) + K*n*storage(k.Device.B) + m*n*storage(k.output())
	if k.Device.ScaleBlock > 0 {
		bits += (m + n) * math.Ceil(K/float64(k.Device.ScaleBlock)) * storage(k.Device.Scale)
	}
	return bits / 8
}

// storage returns the bits of a number in memory, where tf32 is a word of
// binary32.
func storage(f tcore.Format) float64 {
	if f == tcore.TF32 {
		f = tcore.Binary32
	}
	return float64(f.Bits())
}

// compare fills in the ratios and sorts.
func compare(advice []Advice) {
	bytes, time := math.Inf(1), math.Inf(1)
	for _, a := range advice {
		if a.Meets() {
			bytes = min(bytes, a.Bytes)
			time = min(time, a.Peak.time())
		}
	}
	for i := range advice {
		a := &advice[i]
		a.BytesRatio, a.TimeRatio = nan, nan
		if !math.IsInf(bytes, 1) {
			a.BytesRatio = a.Bytes / bytes
		}
		if a.Peak.Tflops > 0 && !math.IsInf(time, 1) {
			a.TimeRatio = a.Peak.time() / time
		}
	}
	slices.SortStableFunc(advice, func(a, b Advice) int {
		if !a.Meets() || !b.Meets() {
			return cmp.Compare(max(a.Excess, 1), max(b.Excess, 1))
		}
		return cmp.Or(cmp.Compare(a.Peak.time(), b.Peak.time()), cmp.Compare(a.Bytes, b.Bytes))
	})
}
