package roundoff

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Failure is the natural logarithm of an upper bound on the probability that
// a statement fails. A logarithm is used because probabilities of failure far
// below 2^-53 occur, for which the probability of success rounds to 1. By the
// union bound probabilities of failure add up: see [Failure.Times] and
// [Failure.Plus].
type Failure float64

// Never is the Failure of a statement that always holds, log 0.
var Never = Failure(math.Inf(-1))

// FailureOf returns the Failure of a statement that holds with the given
// probability, log(1 - confidence). It panics if confidence is outside (0, 1).
func FailureOf(confidence float64) Failure {
	check.Number("confidence", confidence, 0 < confidence && confidence < 1, "0 < confidence < 1")
	return Failure(math.Log1p(-confidence))
}

// Vacuous reports whether the bound on the probability of failure is at least 1
// (or NaN), so that it gives no confidence in the statement.
func (f Failure) Vacuous() bool { return !(f < 0) }

// Confidence returns p = 1 - e^f, a lower bound on the probability that the
// statement holds. Where f is vacuous there is no such bound, and it returns
// NaN, false.
func (f Failure) Confidence() (p float64, ok bool) {
	if f.Vacuous() {
		return math.NaN(), false
	}
	return -math.Expm1(float64(f)), true
}

// Times returns the failure of n statements together, of which each has the
// failure f: by the union bound f + log n. It panics if n < 1 or n is NaN.
func (f Failure) Times(n float64) Failure {
	check.Number("events", n, n >= 1, "events >= 1")
	return f + Failure(math.Log(n))
}

// Plus returns the failure of two statements together, by the union bound
// log(e^f + e^g).
func (f Failure) Plus(g Failure) Failure {
	f, g = max(f, g), min(f, g)
	if g == Never {
		return f
	}
	return f + Failure(math.Log1p(math.Exp(float64(g-f))))
}

// String returns the confidence to four digits, as in "99 %" and "98.75 %".
// Where these digits would all be nines, it returns a text such as "1 -
// 3.2e-17". It returns "always" for [Never], and "vacuous" if f is vacuous.
func (f Failure) String() string {
	const tiny = 0.9e-4
	switch p, ok := f.Confidence(); {
	case !ok:
		return "vacuous"
	case f == Never:
		return "always"
	case math.Exp(float64(f)) > tiny:
		return fmt.Sprintf("%.4g %%", 100*p)
	}
	// e^f may underflow; its decimal exponent and significand, computed apart, do
	// not.
	e := math.Floor(float64(f) / math.Ln10)
	m := math.Exp(float64(f) - e*math.Ln10)
	if m >= 9.95 {
		e, m = e+1, 1
	}
	return fmt.Sprintf("1 - %.2ge%.0f", m, e)
}

// ParseConfidence returns the Failure of a statement that holds with the
// probability given by s: "0.99", or "1-1e-400" for a probability that float64
// cannot distinguish from 1. It accepts what String returns for a tiny failure,
// such as "1 - 3.2e-17". It returns an error unless s is a number strictly
// between 0 and 1.
func ParseConfidence(s string) (Failure, error) {
	bad := fmt.Errorf("roundoff: confidence %q, want a number between 0 and 1, as 0.99 or 1-1e-400", s)
	if rest, ok := strings.CutPrefix(strings.ReplaceAll(s, " ", ""), "1-"); ok {
		digits, exponent, _ := strings.Cut(strings.ToLower(rest), "e")
		m, err := strconv.ParseFloat(digits, 64)
		e := 0
		if exponent != "" && err == nil {
			e, err = strconv.Atoi(exponent)
		}
		f := Failure(math.Log(m) + float64(e)*math.Ln10)
		if err != nil || !(Never < f && f < 0) {
			return 0, bad
		}
		return f, nil
	}
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !(0 < p && p < 1) {
		return 0, bad
	}
	return FailureOf(p), nil
}
