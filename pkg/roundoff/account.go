package roundoff

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// An Account divides a probability of failure among named events, each of which
// may use its share once. By the union bound, the probability that any of the
// events fails is at most the failure of the account.
type Account struct {
	f      Failure
	shares map[string]float64
	spent  map[string]bool
}

// Account returns an account of the failure f, with shares[event] the fraction
// of e^f that is given to the event. It panics unless -Inf < f < 0, if a share
// is not positive, or if the shares add up to more than 1.
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

// Spend returns the failure of the named event, f + log(share), and marks the
// share as spent. It panics if the event has no share, or if its share has been
// spent.
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

// Unspent returns the names of the events whose shares have not been spent,
// sorted.
func (a *Account) Unspent() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.shares)), func(event string) bool { return a.spent[event] })
}
