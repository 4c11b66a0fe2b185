// Package argument checks arguments. For a value that is not allowed it panics
// with a message of the form
//
//	package: name = value, want …
package argument

import (
	"math"
	"strconv"
)

// A Package is the name of the package that was called.
type Package string

// Count panics unless n >= 1.
func (p Package) Count(name string, n int) { p.atLeast(name, n, 1) }

// Index panics unless n >= 0.
func (p Package) Index(name string, n int) { p.atLeast(name, n, 0) }

func (p Package) atLeast(name string, n, least int) {
	if n < least {
		panic(string(p) + ": " + name + " = " + strconv.Itoa(n) + ", want " + name + " >= " + strconv.Itoa(least))
	}
}

// The comparisons below are written so that NaN fails them. Only a number that
// fails has its message put together: checks stand in loops.

// Unit panics unless 0 < u < 1, as unit roundoffs are.
func (p Package) Unit(name string, u float64) {
	if !(0 < u && u < 1) {
		p.refuse(name, u, "0 < "+name+" < 1")
	}
}

// Positive panics unless x is positive and finite.
func (p Package) Positive(name string, x float64) {
	if !(x > 0 && x <= math.MaxFloat64) {
		p.refuse(name, x, "0 < "+name+" < +Inf")
	}
}

// NotNegative panics unless x >= 0; +Inf is allowed.
func (p Package) NotNegative(name string, x float64) {
	if !(x >= 0) {
		p.refuse(name, x, name+" >= 0")
	}
}

// Number panics unless ok, with a message that contains the name and value of x
// and the condition wanted.
func (p Package) Number(name string, x float64, ok bool, want string) {
	if !ok {
		p.refuse(name, x, want)
	}
}

func (p Package) refuse(name string, x float64, want string) {
	panic(string(p) + ": " + name + " = " + strconv.FormatFloat(x, 'g', -1, 64) + ", want " + want)
}
