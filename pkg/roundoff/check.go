package roundoff

import (
	"math"
	"strconv"
)

// The caller's mistakes, each in the form "roundoff: name = value, want ...".

func checkCount(name string, n int) {
	if n < 1 {
		panic("roundoff: " + name + " = " + strconv.Itoa(n) + ", want " + name + " >= 1")
	}
}

// checkFactors checks the number of factors of a product, which may be empty.
func checkFactors(n int) {
	if n < 0 {
		panic("roundoff: n = " + strconv.Itoa(n) + ", want n >= 0")
	}
}

// The comparisons below are written so that NaN fails them.

func checkUnit(name string, u float64) {
	if !(0 < u && u < 1) {
		panicFloat(name, u, "0 < "+name+" < 1")
	}
}

func checkLambda(λ float64) {
	if !(λ >= 0) {
		panicFloat("lambda", λ, "lambda >= 0")
	}
}

func checkConfidence(p float64) {
	if !(0 < p && p < 1) {
		panicFloat("confidence", p, "0 < confidence < 1")
	}
}

func checkFailure(f Failure) {
	if !(Never < f && f < 0) {
		panicFloat("failure", float64(f), "-Inf < failure < 0, a logarithm")
	}
}

func checkEvents(n float64) {
	if !(n >= 1) {
		panicFloat("events", n, "events >= 1")
	}
}

func checkPositive(name string, x float64) {
	if !(x > 0 && x <= math.MaxFloat64) {
		panicFloat(name, x, "0 < "+name+" < +Inf")
	}
}

func checkConstant(name string, x float64) {
	if !(x >= 0) {
		panicFloat(name, x, name+" >= 0")
	}
}

func panicFloat(name string, x float64, want string) {
	panic("roundoff: " + name + " = " + strconv.FormatFloat(x, 'g', -1, 64) + ", want " + want)
}
