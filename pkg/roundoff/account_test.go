package roundoff

import (
	"math"
	"testing"

	"github.com/roundofflab/roundoff/internal/panics"
)

func TestAccount(t *testing.T) {
	t.Run("gives no more than there is", func(t *testing.T) {
		shares := map[string]float64{"a": 0.5, "b": 0.25, "c": 0.25}
		f, sum := Failure(-700), 0.0
		account := f.Account(shares)
		for name := range shares {
			sum += math.Exp(float64(account.Spend(name) - f))
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%v of the failure spent", sum)
		}
	})
	t.Run("does not follow its shares", func(t *testing.T) {
		shares := map[string]float64{"a": 0.5}
		account := Failure(-1).Account(shares)
		shares["a"] = 1
		if got, want := account.Spend("a"), Failure(-1)+Failure(math.Log(0.5)); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
	for want, call := range map[string]func(){
		`roundoff: shares add up to 1.25, want at most 1`:                                    func() { Failure(-1).Account(map[string]float64{"a": 1, "b": 0.25}) },
		`roundoff: share of "a" = 0, want it positive`:                                       func() { Failure(-1).Account(map[string]float64{"a": 0}) },
		`roundoff: share of "a" = NaN, want it positive`:                                     func() { Failure(-1).Account(map[string]float64{"a": math.NaN()}) },
		`roundoff: no share of the failure for "b"`:                                          func() { Failure(-1).Account(map[string]float64{"a": 1}).Spend("b") },
		`roundoff: failure = 0, want -Inf < failure < 0, a logarithm, as FailureOf(0.99) is`: func() { Failure(0).Account(nil) },
	} {
		t.Run(want, func(t *testing.T) { panics.Want(t, want, call) })
	}
}
