package truncation

import (
	"fmt"
	"math"
)

// GrowthRate says with which powers of K the error of a sum of K random
// products grows. Absolute, Backward and Relative are the exponents of K in the
// absolute error, in the backward error, which is divided by Σ|p|, and in the
// relative error, which is divided by the sum.
type GrowthRate struct {
	Products ProductKind
	Sums     SumKind
	Absolute float64
	Backward float64
	Relative float64 // for products of mean zero that of the slope β; NaN where there is no slope
	Cause    string
}

// ProductKind is the property of the distribution of products that determines a
// growth rate.
type ProductKind int

const (
	OfMean     ProductKind = iota // of mean μ ≠ 0, where K is much larger than (σ/μ)²
	OfMeanZero                    // of symmetric distribution
)

// String returns the kind in words.
func (k ProductKind) String() string {
	switch k {
	case OfMean:
		return "mean not zero"
	case OfMeanZero:
		return "mean zero"
	}
	return fmt.Sprintf("ProductKind(%d)", int(k))
}

// SumKind is the property of a machine that determines a growth rate.
type SumKind int

const (
	KeepsMore SumKind = iota // truncates, and aligns with more bits than the sum has: F > f
	KeepsSame                // truncates, F = f
	ToNearest                // rounds every sum to nearest
)

// String returns the kind in words.
func (k SumKind) String() string {
	switch k {
	case KeepsMore:
		return "truncates, F > f"
	case KeepsSame:
		return "truncates, F = f"
	case ToNearest:
		return "to nearest"
	}
	return fmt.Sprintf("SumKind(%d)", int(k))
}

// GrowthRates returns how errors grow with K, for all kinds of products on all
// kinds of machines. The rates are for long sums and errors far below 1. For
// products of mean zero, a machine with F > f has the growth rate of one with F
// = f up to the length [Accumulator.DriftLength].
//
// Source: derived here, as the powers of K in [Accumulator.MeanError],
// [Accumulator.ErrorSlope] and [Accumulator.ErrorDeviation]. The rates for
// rounding to nearest assume errors of mean zero, which they have as long as
// products are much larger than a unit in the last place of the sum.
func GrowthRates() []GrowthRate {
	return []GrowthRate{
		{OfMean, KeepsMore, 2, 1, 1, "every step loses part of the sum"},
		{OfMean, KeepsSame, 2, 1, 1, "every step loses part of the sum"},
		{OfMean, ToNearest, 1.5, 0.5, 0.5, "independent errors of the size of the sum"},
		{OfMeanZero, KeepsMore, 1.5, 0.5, 1, "every step draws the sum towards zero"},
		{OfMeanZero, KeepsSame, 1, 0, 0.5, "independent errors of the size of the sum"},
		{OfMeanZero, ToNearest, 1, 0, math.NaN(), "independent errors of the size of the sum"},
	}
}

// Kind returns the SumKind of the machine. It panics if Terms < 1 or Unit is
// outside (0, 1), unless Nearest is set.
func (t Accumulator) Kind() SumKind {
	switch {
	case t.Nearest:
		return ToNearest
	case t.excess() > 0:
		return KeepsMore
	}
	return KeepsSame
}
