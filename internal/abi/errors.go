package abi

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
)

// The values that functions of the library return.
const (
	OK        = 0 // the call did what it says
	Argument  = 1 // an argument is wrong; the answer names it and its value
	Failed    = 2 // a file, or what it contains, is not as it has to be
	Cancelled = 3 // the caller set *cancel
	Fault     = 4 // a mistake of the library; the answer says where
)

// errCancelled is the error of a call that the caller ended.
var errCancelled = errors.New("cancelled")

// A failure is an error that no other argument would have avoided.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// flagged matches a flag of a command in an error, which is an argument here.
var flagged = regexp.MustCompile(`(^|[ (])-([a-z]+)(?:-([a-z]+))?\b`)

// Call runs f and returns a code and what the caller is told: the answer of f,
// or its error. A panic becomes a Fault with its text.
func Call(f func() (answer string, err error)) (code int, text string) {
	defer func() {
		if r := recover(); r != nil {
			code, text = Fault, fmt.Sprintf("roundoff: a mistake of this library, please report it: %v\n%s", r, debug.Stack())
		}
	}()
	answer, err := f()
	var failed failure
	switch {
	case err == nil:
		return OK, answer
	case errors.Is(err, errCancelled):
		return Cancelled, err.Error()
	case errors.As(err, &failed):
		return Failed, err.Error()
	}
	return Argument, flagged.ReplaceAllStringFunc(err.Error(), named)
}

// named returns the argument that a flag of a command is called here: split_k
// for -split-k.
func named(text string) string {
	m := flagged.FindStringSubmatch(text)
	if m[3] != "" {
		return m[1] + m[2] + "_" + m[3]
	}
	return m[1] + m[2]
}
