package roundoff

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// An Account is a failure that is divided among named events, each of which is
// paid for once. By the union bound a statement that needs all of these events
// fails with at most the failure of the account.
type Account struct {
	f      Failure
	shares map[string]float64
	spent  map[string]bool
}

// Account returns f divided into shares: the parts of e^f that events may fail
// with. It panics unless -Inf < f < 0, if a share is not positive, or if they
// add up to more than 1.
func (f Failure) Account(shares map[string]float64) *Account {
	checkFailure(f)
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if s := shares[name]; !(s > 0) {
			panic(fmt.Sprintf("roundoff: share of %q = %v, want it positive", name, s))
		}
		sum += shares[name]
	}
	if sum > 1+1e-12 {
		panic(fmt.Sprintf("roundoff: shares add up to %v, want at most 1", sum))
	}
	return &Account{f, maps.Clone(shares), map[string]bool{}}
}

// Spend returns the failure of the named event.
// It panics if there is no such share, or it has been spent.
func (a *Account) Spend(event string) Failure {
	share, ok := a.shares[event]
	switch {
	case !ok:
		panic(fmt.Sprintf("roundoff: no share of the failure for %q", event))
	case a.spent[event]:
		panic(fmt.Sprintf("roundoff: the share of the failure for %q is spent", event))
	}
	a.spent[event] = true
	return a.f + Failure(math.Log(share))
}

// Unspent returns the names of the events that have not been paid for, sorted.
func (a *Account) Unspent() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.shares)), func(event string) bool { return a.spent[event] })
}
