package course

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// IEEEFormats are the formats of assignment 1: they have subnormal numbers and
// infinities, and few enough numbers to list them all.
var IEEEFormats = []tcore.Format{tcore.E5M2, tcore.Binary16, tcore.BFloat16}

// numbers returns all nonnegative finite numbers of the format in ascending
// order, followed by 2^(Emax+1), the first number beyond its range. Number i
// has code i, so that its last bit is 0 if i is even.
func numbers(f tcore.Format) []float64 {
	var x []float64
	for code := uint64(0); f.Decode(code) <= f.Max(); code++ {
		x = append(x, f.Decode(code))
		if f.Decode(code) == f.Max() {
			break
		}
	}
	return append(x, math.Ldexp(1, f.Emax+1))
}

// nearest returns fl(x), to nearest, ties to even, from the list of all
// numbers.
func nearest(list []float64, x float64) float64 {
	last := len(list) - 1
	i, found := slices.BinarySearch(list, math.Abs(x))
	if !found {
		if i > last {
			i = last
		}
		middle := (list[i-1] + list[i]) / 2
		if math.Abs(x) < middle || math.Abs(x) == middle && i%2 == 1 {
			i--
		}
	}
	if i == last {
		return math.Copysign(math.Inf(1), x)
	}
	return math.Copysign(list[i], x)
}

// spacing returns the distance between |x| and the next greater number if |x|
// is in the list of all numbers, and otherwise the distance between its two
// neighbours.
func spacing(list []float64, x float64) float64 {
	i, found := slices.BinarySearch(list, math.Abs(x))
	if !found {
		i--
	}
	return list[i+1] - list[i]
}

// CheckUnitRoundoff checks a function that returns u = 2^-p.
func CheckUnitRoundoff(unitRoundoff func(p int) float64) {
	defer watch("UnitRoundoff")()
	for p := 1; p <= 200; p++ {
		want, _ := new(big.Float).SetMantExp(big.NewFloat(1), -p).Float64()
		same(fmt.Sprintf("UnitRoundoff(%d)", p), unitRoundoff(p), want)
	}
}

// CheckFirstGap checks a function that returns the least positive integer that
// is not a number of the format.
func CheckFirstGap(firstGap func(f tcore.Format) float64) {
	defer watch("FirstGap")()
	for p := 1; p <= 11; p++ {
		f := tcore.Format{Name: fmt.Sprintf("p=%d", p), Precision: p, Emin: -14, Emax: 15, Specials: tcore.FiniteOnly, Overflow: tcore.Saturate}
		list, gap := numbers(f), 1.0
		for slices.Contains(list, gap) {
			gap++
		}
		same("FirstGap of a format with "+f.Name, firstGap(f), gap)
	}
}

// CheckUlp checks a function that returns the spacing of the numbers of the
// format at x, the greater one where x is a power of two.
func CheckUlp(ulp func(f tcore.Format, x float64) float64, seed uint64) {
	defer watch("Ulp")()
	rng := random(seed)
	for _, f := range IEEEFormats {
		list := numbers(f)
		x := []float64{f.MinSubnormal(), f.MinNormal(), -f.MinNormal(), f.Max(), -1, 1, 1.75, 2, f.MinNormal() / 2}
		for range 300 {
			x = append(x, list[1+rng.IntN(len(list)-2)], between(f.Emin-f.Precision+1, f.Emax-1, rng.Float64(), rng.Float64()))
		}
		for _, x := range x {
			same(fmt.Sprintf("Ulp(%s, %v)", f.Name, x), ulp(f, x), spacing(list, x))
		}
	}
}

// between returns a number of binary64 with an exponent from lo to hi,
// determined by a and b in [0, 1).
func between(lo, hi int, a, b float64) float64 {
	return math.Ldexp(1+a, lo+int(b*float64(hi-lo+1)))
}

// CheckRoundNormal checks fl(x) for x in the normal range that are not ties.
func CheckRoundNormal(round func(f tcore.Format, x float64) float64, seed uint64) {
	rng := random(seed)
	checkRound(round, func(f tcore.Format, list []float64) (x []float64) {
		for range 300 {
			v := between(f.Emin, f.Emax-1, rng.Float64(), rng.Float64())
			x = append(x, v, -v, list[1<<(f.Precision-1)+rng.IntN(len(list)/2)])
		}
		return x
	})
}

// CheckRoundTies checks fl(x) for x halfway between two normal numbers.
func CheckRoundTies(round func(f tcore.Format, x float64) float64, seed uint64) {
	rng := random(seed)
	checkRound(round, func(f tcore.Format, list []float64) (x []float64) {
		for range 300 {
			i := 1<<(f.Precision-1) + rng.IntN(len(list)/2)
			x = append(x, (list[i]+list[i+1])/2, -(list[i]+list[i+1])/2)
		}
		return x
	})
}

// CheckRoundSubnormal checks fl(x) for |x| up to the least normal number.
func CheckRoundSubnormal(round func(f tcore.Format, x float64) float64, seed uint64) {
	rng := random(seed)
	checkRound(round, func(f tcore.Format, list []float64) (x []float64) {
		least := f.MinSubnormal()
		x = []float64{0, least, least / 2, -least / 2, least / 4, 1.5 * least, 2.5 * least, math.Nextafter(least/2, 1), f.MinNormal()}
		for range 200 {
			x = append(x, f.MinNormal()*rng.Float64(), -f.MinNormal()*rng.Float64())
		}
		return x
	})
}

// CheckRoundOverflow checks fl(x) for x around the greatest number, and for
// infinities.
func CheckRoundOverflow(round func(f tcore.Format, x float64) float64) {
	checkRound(round, func(f tcore.Format, list []float64) (x []float64) {
		last := len(list) - 1
		edge := (list[last-1] + list[last]) / 2
		for _, v := range []float64{f.Max(), math.Nextafter(f.Max(), math.Inf(1)), math.Nextafter(edge, 0), edge,
			math.Nextafter(edge, math.Inf(1)), list[last], 4 * list[last], math.Inf(1), (list[last-2] + f.Max()) / 2} {
			x = append(x, v, -v)
		}
		return x
	})
}

func checkRound(round func(f tcore.Format, x float64) float64, inputs func(f tcore.Format, list []float64) []float64) {
	defer watch("Round")()
	for _, f := range IEEEFormats {
		list := numbers(f)
		for _, x := range inputs(f, list) {
			same(fmt.Sprintf("Round(%s, %v)", f.Name, x), round(f, x), nearest(list, x))
		}
	}
}

// CheckWorst checks that the relative rounding error of x is u/(1+u), the
// largest in the normal range.
func CheckWorst(worst func(f tcore.Format) (x float64)) {
	defer watch("Worst")()
	for _, f := range append([]tcore.Format{tcore.Binary32, tcore.TF32}, IEEEFormats...) {
		x := worst(f)
		if !finite(x) || math.Abs(x) < f.MinNormal() || math.Abs(x) > f.Max() {
			failf("Worst(%s) = %v, which is outside the normal range", f.Name, x)
		}
		u, err := rat(f.UnitRoundoff()), new(big.Rat).Sub(rat(f.Round(x, tcore.ToNearestEven)), rat(x))
		relative := err.Quo(err.Abs(err), new(big.Rat).Abs(rat(x)))
		if relative.Cmp(new(big.Rat).Quo(u, new(big.Rat).Add(big.NewRat(1, 1), u))) != 0 {
			e, _ := relative.Float64()
			failf("Worst(%s) = %v, whose error is %.6g u; there is a larger one", f.Name, x, e/f.UnitRoundoff())
		}
	}
}

// CheckDoubleRounding checks that rounding x to the wide format and the result
// to the narrow one differs from rounding x directly to the narrow one.
func CheckDoubleRounding(find func(narrow, wide tcore.Format) (x float64)) {
	defer watch("DoubleRounding")()
	for _, pair := range [][2]tcore.Format{
		{tcore.E5M2, tcore.Binary16}, {tcore.BFloat16, tcore.TF32}, {tcore.BFloat16, tcore.Binary32}, {tcore.Binary16, tcore.Binary32}} {
		narrow, wide := pair[0], pair[1]
		x := find(narrow, wide)
		list := numbers(narrow)
		once, twice := nearest(list, x), nearest(list, wide.Round(x, tcore.ToNearestEven))
		if !finite(x) || once == twice {
			failf("DoubleRounding(%s, %s) = %v, which becomes %v either way", narrow.Name, wide.Name, x, once)
		}
	}
}

// Binades returns the numbers at which assignment 1 evaluates the spacing: 1.5
// × 2^e for even e from -40 to 40.
func Binades() []float64 {
	var x []float64
	for e := -40; e <= 40; e += 2 {
		x = append(x, math.Ldexp(1.5, e))
	}
	return x
}

// CheckSpacing checks the chart of assignment 1. It contains, for the formats
// e5m2, binary16 and bfloat16, each under its name, Ulp(f, x)/x at those x of
// Binades that lie between the least subnormal and the greatest number of the
// format.
func CheckSpacing[C Chart](figure func() C) {
	defer watchFigure("Spacing")()
	c := figure()
	for _, f := range IEEEFormats {
		list := numbers(f)
		var x, y []float64
		for _, v := range Binades() {
			if f.MinSubnormal() <= v && v <= f.Max() {
				x, y = append(x, v), append(y, spacing(list, v)/v)
			}
		}
		drawn("Spacing", c, f.Name, x, y)
	}
}
