package bound

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Advice says whether a matrix product on a device meets a tolerance, and
// what the product costs there.
type Advice struct {
	Device   tcore.Device
	Recipes  *Recipes // by which A and B are quantised; nil if their elements are rounded, or are numbers of the device
	Tightest Result   // the tightest valid bound; if no bound is valid, Why says so

	// Excess is the tightest bound on |error|/|A||B|, divided by the tolerance. The
	// product meets the tolerance if Excess <= 1. It is +Inf if no bound is valid.
	// Excess includes the Underflow of Tightest if k.Data gives the least |A||B| of
	// an output; otherwise it neglects underflow.
	Excess float64

	// The product meets the tolerance for LeastK <= K <= LargestK; both are 0 if no
	// such K was found. A product with K below LeastK has too few errors of
	// converted factors for them to average out. Values above [LongestK] are not
	// tried.
	LeastK, LargestK int

	// Promote is the largest number of products after which sums have to be added
	// to others in binary32 for a product that misses the tolerance to meet it: a
	// power of two times the number that the device adds at once. It is 0 if the
	// product meets the tolerance, if no such number helps, or if K is cut already.
	Promote int

	// SplitK is the number of parts into which K has to be cut for that, by kernels
	// that do not promote but write sums of parts to memory: as many as there are
	// parts of Promote products. It is 0 if Promote is 0 or they do not suffice.
	SplitK int

	// Other are recipes by which a product that misses the tolerance meets it on
	// this device: the first of [quant.Recipes], for A and B alike. It is nil if
	// the product meets the tolerance, if Promote or no recipe helps, or if A and B
	// are not Represented.
	Other *Recipes

	Bytes      float64 // moved: A, B and D, once each
	BytesRatio float64 // Bytes over the least Bytes of a device that meets the tolerance; NaN if none does
	Peak       Peak    // the zero Peak if none is known
	// TimeRatio is the time at the peak, over the shortest time of a device that
	// meets the tolerance. It is NaN if the peak of this device is unknown, or that
	// of every device that meets the tolerance.
	TimeRatio float64
}

// Meets reports whether the product on the device meets the tolerance.
func (a Advice) Meets() bool { return a.Excess <= 1 }

// Advise returns, for every device, whether the catalogue guarantees |D̂ - D|
// <= tolerance |A||B| elementwise, for all outputs together with confidence 1 -
// e^f, and what the product costs. The devices that meet the tolerance come
// first, sorted by their times at the peak, the fastest first. The others
// follow, sorted by Excess, the smallest first. Advise ignores k.Device. If
// k.Represented, A and B are first rounded to the formats of each device. A
// device then does not meet the tolerance if a format has at most 6 bits and so
// too few normal numbers. With k.Recipes, A and B are quantised by these, and a
// device meets no tolerance if it does not take what they make. Without, those
// of [NaturalRecipes] quantise them for a block-scaled device. LeastK and
// LargestK are multiples of the length of blocks then, unless A and B are
// given.
//
// With k.Given, it knows what the conversion loses, and assumes that longer
// rows go on like those given.
//
// With k.Data, Advise uses only bounds whose assumptions the inspection does
// not refuse, also for other values of K, and it includes underflow. It assumes
// that the least |A||B| of an output is no smaller for larger K, and
// proportional to K for smaller K. Without k.Data, it neglects underflow. It
// detects overflow only from the distributions of the data, or from RangeX and
// RangeY.
//
// The returned error is that of [Evaluate]. Advise panics as Evaluate does,
// unless tolerance > 0, if there are no devices, or if k has an Order, is
// Stochastic or has a Run, because these belong to one machine.
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
	lengths := map[tcore.Device]func() [2]int{} // one search for all devices of the same arithmetic
	natural, others := map[tcore.Device]*Recipes{}, alike()
	for i, d := range devices {
		k, of := k, d
		k.Device = d
		of.Name, of.Architecture, of.Instruction = "", "", ""
		if k.Recipes == nil && k.Represented {
			if natural[of] == nil {
				natural[of], _ = NaturalRecipes(d)
			}
			k.Recipes = natural[of]
		}
		if lengths[of] == nil {
			lengths[of] = sync.OnceValue(func() [2]int { return k.lengths(tolerance, f) })
		}
		find := lengths[of]
		wait.Go(func() {
			advice[i] = k.advise(tolerance, f)
			advice[i].Promote = k.promotion(advice[i], tolerance, f)
			advice[i].SplitK = k.split(advice[i].Promote, tolerance, f)
			advice[i].Other = k.other(others, advice[i], tolerance, f)
			K := find()
			advice[i].LeastK, advice[i].LargestK = K[0], K[1]
		})
	}
	wait.Wait()
	compare(advice)
	return advice, nil
}

// advise returns the advice for k.Device, without the ratios, the lengths
// and what would cure it.
func (k Problem) advise(tolerance float64, f roundoff.Failure) Advice {
	best := k.tightest(f)
	a := Advice{Device: k.Device, Recipes: k.Recipes, Tightest: best, Excess: k.relative(best) / tolerance, Bytes: k.bytes()}
	a.Peak, _ = PeakOf(k.Device)
	return a
}

// lengths returns LeastK and LargestK for k.Device.
func (k Problem) lengths(tolerance float64, f roundoff.Failure) [2]int {
	whole := func(K int) int { return K }
	switch n := k.blockLength(); {
	case k.Recipes == nil || k.Given != nil:
	case n > 0:
		whole = func(K int) int { return (K + n - 1) / n * n }
	case k.Recipes.ofRows():
		whole = func(K int) int {
			step := 1 << max(0, bits.Len(uint(K-1))-7)
			return (K + step - 1) / step * step
		}
	}
	least, largest := goodLengths(func(K int) float64 {
		k := k
		k.K = whole(K)
		return k.relative(k.tightest(f)) / tolerance
	}, k.K)
	return [2]int{whole(least), whole(largest)}
}

// promotion returns Promote for the advice on k.Device.
func (k Problem) promotion(a Advice, tolerance float64, f roundoff.Failure) int {
	if a.Meets() || k.Promote > 0 || k.SplitK > 1 {
		return 0
	}
	n := k.Width()
	for 2*n < k.K {
		n *= 2
	}
	for ; n >= k.Width(); n /= 2 {
		k.Promote = n
		if b := k.tightest(f); k.relative(b) <= tolerance {
			return n
		} else if b.Parts.Conversion > tolerance {
			return 0 // no order of summation makes that smaller
		}
	}
	return 0
}

// split returns SplitK for the advice on k.Device with this Promote.
func (k Problem) split(promote int, tolerance float64, f roundoff.Failure) int {
	if promote == 0 {
		return 0
	}
	k.SplitK = (k.K + promote - 1) / promote
	if k.relative(k.tightest(f)) > tolerance {
		return 0
	}
	return k.SplitK
}

// alike returns the recipes of the catalogue, each for A and for B.
func alike() []*Recipes {
	var all []*Recipes
	for _, r := range quant.Recipes() {
		all = append(all, &Recipes{r, r})
	}
	return all
}

// other returns the first of the recipes that the device takes by which the
// product meets the tolerance, Other for the advice on k.Device.
func (k Problem) other(recipes []*Recipes, a Advice, tolerance float64, f roundoff.Failure) *Recipes {
	if a.Meets() || a.Promote > 0 || !k.Represented {
		return nil
	}
	for _, r := range recipes {
		if r.refuses(k.Machine) != "" {
			continue
		}
		k.Recipes = r
		if k.relative(k.tightest(f)) <= tolerance {
			return r
		}
	}
	return nil
}

// tightest returns the tightest valid result, or an invalid one with a constant
// of +Inf if there is none. It does not evaluate bounds that are not valid.
func (k Problem) tightest(f roundoff.Failure) Result {
	if k.sumsIntegers() {
		return k.integers()
	}
	none := Result{Constant: math.Inf(1), Absolute: math.Inf(1), Lambda: math.NaN(), Confidence: roundoff.Never, Why: "no bound of the catalogue holds"}
	bounds := Catalogue()
	if k.Recipes != nil {
		if why := k.quantised(f.Split(2)).why; why != "" {
			none.Why = why
			return none
		}
	} else {
		if why := k.outOfRange(); why != "" {
			none.Why = why
			return none
		}
		bounds = slices.DeleteFunc(bounds, func(b Bound) bool { return !k.knows(b.Needs) || b.failsFor(k, true) != "" })
	}
	best := none
	for _, r := range k.results(bounds, f, true) {
		if r.Holds && k.relative(r) < k.relative(best) {
			best = r
		}
	}
	return best
}

// relative returns an upper bound of |error|/|A||B| over all outputs. The limit
// on the error grows more slowly than |A||B|, so the ratio is largest at the
// least |A||B|. If that is unknown, relative neglects underflow.
func (k Problem) relative(r Result) float64 {
	if least := k.leastOutput(); least > 0 {
		return r.Limit(least) / least
	}
	return r.Constant
}

// leastOutput returns a lower bound of the nonzero |A||B| of all outputs, or 0
// if none is known.
func (k Problem) leastOutput() float64 {
	if k.Data == nil || k.Data.Least == 0 {
		return 0
	}
	return k.Data.Least * min(1, float64(k.K)/float64(k.Data.k))
}

// outOfRange returns why the formats of the device cannot represent the data,
// or "".
func (k Problem) outOfRange() string {
	switch {
	case k.Represented && k.Device.ScaleBlock > 0:
		return "scales of blocks: a factor far below the greatest of its block is lost"
	case k.Represented && min(k.Device.A.Bits(), k.Device.B.Bits()) <= 6 && !k.averages() && !k.converts():
		return k.Device.A.Name + " has few normal numbers: conversion loses small factors"
	}
	if why := k.overflows(true); why != "" {
		return why
	}
	if !k.knows(Moments) {
		return ""
	}
	if sum := float64(k.Length()) * math.Abs(k.X.Mean()*k.Y.Mean()); sum > k.Device.C.Max() {
		return fmt.Sprintf("sums are %.3g in the mean, %s ends at %.3g", sum, k.Device.C.Name, k.Device.C.Max())
	}
	return ""
}

// bytes returns the size of A, B and D in bytes, including the scales of
// block-scaled factors.
func (k Problem) bytes() float64 {
	m, n, K := float64(k.M), float64(k.N), float64(k.K)
	bits := m*K*storage(k.Device.A) + K*n*storage(k.Device.B) + m*n*storage(k.output())
	if k.Device.ScaleBlock > 0 {
		bits += (m + n) * math.Ceil(K/float64(k.Device.ScaleBlock)) * storage(k.Device.Scale)
	}
	return bits / 8
}

// storage returns the number of bits that a number occupies in memory. A tf32
// number occupies a word of binary32.
func storage(f tcore.Format) float64 {
	if f == tcore.TF32 {
		f = tcore.Binary32
	}
	return float64(f.Bits())
}

// compare sets the ratios and sorts the advice.
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
