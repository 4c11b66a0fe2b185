package rare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the probability with which the interval from Low to High of an
// [Estimate] is to contain the rate.
const Confidence = 0.95

// An Effort says how much is computed for an estimate. A zero stands for the
// number in brackets.
type Effort struct {
	Seed    uint64  // the same seed gives the same estimate on any number of cores
	Runs    int     // independent runs, at most 1000, whose spread is the error bar [20]
	Samples int     // outputs that each run has at once [250]
	Moves   int     // changes that are tried of each output at each level, by splitting [10]
	Floor   float64 // the rate at which splitting stops to go further [1e-30]

	// Progress is called with the work done and the total, unless it is nil.
	Progress func(done, total int)
}

// filled returns the effort with the defaults in place of zeros. It panics if a
// number is negative, Runs is 1 or above 1000, or Floor is not below 1.
func (e Effort) filled() Effort {
	for _, n := range []struct {
		name string
		n    *int
		or   int
	}{{"Runs", &e.Runs, 20}, {"Samples", &e.Samples, 250}, {"Moves", &e.Moves, 10}} {
		if *n.n < 0 || n.name == "Runs" && (*n.n == 1 || *n.n > 1000) {
			panic(fmt.Sprintf("rare: Effort.%s = %d, want 0 for %d, or more, and of runs 2 to 1000", n.name, *n.n, n.or))
		}
		if *n.n == 0 {
			*n.n = n.or
		}
	}
	if !(0 <= e.Floor && e.Floor < 1) {
		panic(fmt.Sprintf("rare: Effort.Floor = %v, want 0 <= Floor < 1", e.Floor))
	}
	if e.Floor == 0 {
		e.Floor = 1e-30
	}
	return e
}

// An Estimate is the probability of a rare event, as independent runs found it.
// Each run by itself is unbiased.
type Estimate struct {
	Rate   float64 `json:"rate"`    // the mean of the runs
	StdErr float64 `json:"std_err"` // its standard error

	// Low and High are the interval that is to contain the rate with probability
	// [Confidence], for the mean of runs of lognormal rates, or by Student's t if
	// some found nothing. They are 0 and 1 if no run found the event.
	Low  float64 `json:"low"`
	High float64 `json:"high"`

	// Level is 1 if the rate is that of the event. Where splitting did not come so
	// far it is less, and Rate is the rate of scores from Level on, which is an
	// upper bound of the rate asked for.
	Level float64 `json:"level"`

	// Effective is the number of independent outputs that the estimate is made of:
	// by tilting (Σw)²/Σw² for the weights w (Kong 1992), by splitting the number
	// of first draws from which those beyond the last level descend.
	Effective float64 `json:"effective"`
	Largest   float64 `json:"largest"` // the share of Rate of the largest weight, or of the largest run
	Runs      int     `json:"runs"`
	Samples   int     `json:"samples"` // outputs computed, in all runs
	Seed      uint64  `json:"seed"`
}

// estimate returns the estimate of runs that found these rates.
func estimate(rates []float64) Estimate {
	n := float64(len(rates))
	z := Estimate{Level: 1, High: 1, Runs: len(rates)}
	unit := slices.Max(rates) // so that no square underflows
	if unit == 0 {
		return z
	}
	shares := make([]float64, len(rates))
	for i, r := range rates {
		shares[i] = r / unit
	}
	mean, deviation := stat.MeanStdDev(shares, nil)
	z.Rate, z.StdErr = mean*unit, deviation/math.Sqrt(n)*unit
	centre, width := interval(rates, z)
	z.Low, z.High = math.Exp(centre-width), min(1, math.Exp(centre+width))
	z.Largest = 1 / (n * mean)
	return z
}

// interval returns the middle of the interval of log Rate, and half its width.
// Where every run found the event, rates are taken as lognormal, as products of
// many shares are: log E r = E log r + Var log r / 2 (Cox, in Land 1972).
func interval(rates []float64, z Estimate) (centre, width float64) {
	n := float64(len(rates))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - (1-Confidence)/2)
	if slices.Min(rates) == 0 {
		return math.Log(z.Rate), t * z.StdErr / z.Rate
	}
	logs := make([]float64, len(rates))
	for i, r := range rates {
		logs[i] = math.Log(r)
	}
	mean, v := stat.MeanVariance(logs, nil)
	return mean + v/2, t * math.Sqrt(v/n+v*v/(2*(n-1)))
}

// Doubt returns why the error bar is not to be trusted, or "".
func (e Estimate) Doubt() string {
	switch {
	case e.Rate == 0:
		return "no run found the event"
	case e.Effective < 100:
		return fmt.Sprintf("it stands on %.0f independent outputs", e.Effective)
	case e.Largest > 0.25:
		return fmt.Sprintf("%.0f %% of it is of one part", 100*e.Largest)
	case e.StdErr > e.Rate/3:
		return fmt.Sprintf("its standard error is %.0f %%", 100*e.StdErr/e.Rate)
	}
	return ""
}

// String returns the rate with its standard error, as in "3.2e-10 ± 0.1e-10",
// after "<=" if Level is less than 1.
func (e Estimate) String() string {
	if e.Rate == 0 {
		return "0"
	}
	sign, exponent := "", math.Floor(math.Log10(e.Rate))
	if e.Level < 1 {
		sign = "<= "
	}
	unit := math.Pow(10, exponent)
	return fmt.Sprintf("%s%.2fe%+03.0f ± %.2fe%+03.0f", sign, e.Rate/unit, exponent, e.StdErr/unit, exponent)
}
