package bound

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A Model is what a bound assumes about how the machine rounds.
type Model struct {
	Name   string
	Random bool   // rounding errors are random, and bounds hold with a given confidence
	Zero   bool   // errors of rounding to nearest are assumed to have mean zero
	Note   string // the part that is an assumption, not a property of the machine

	// Fails returns why the machine of the problem does not satisfy the model, or
	// "".
	Fails func(Problem) string
}

// The models. In the random ones, the errors δ are relative and at most u in
// size.
var (
	// Nearest: every sum is rounded to nearest, with a relative error of at most u.
	Nearest = Model{Name: "nearest", Fails: notNearest}

	// Independent: Nearest, and the errors are independent and have mean zero.
	Independent = Model{Name: "independent", Random: true, Zero: true,
		Note: "taking rounding errors as independent, of mean zero", Fails: notIndependent}

	// UniformErrors: Independent, and the errors are uniform on [-u, u], as in the
	// paper's Lemma 2.
	UniformErrors = Model{Name: "uniform", Random: true, Zero: true,
		Note: "taking rounding errors as independent and uniform", Fails: notIndependent}

	// MeanIndependent: each error has mean zero, given those before it. This is an
	// assumption for rounding to nearest and a theorem for stochastic rounding.
	MeanIndependent = Model{Name: "mean-independent", Random: true, Zero: true,
		Note: "taking each rounding error as of mean zero given the others", Fails: notMeanIndependent}

	// Truncating: the terms are aligned and truncated, and their sum is rounded
	// once.
	Truncating = Model{Name: "truncating", Fails: notTruncating}

	// TruncatingRandom: Truncating, and what truncation discards is random because
	// the products are.
	TruncatingRandom = Model{Name: "truncating, random data", Random: true,
		Note: "taking the products of an output as independent, of one distribution", Fails: notTruncating}
)

// orOdd returns the model that takes machines that round to odd as well, with a
// relative error of at most 2u, which then stands for u.
func (m Model) orOdd() Model {
	fails := m.Fails
	m.Fails = func(k Problem) string {
		if k.roundsToOdd() && !k.stochastic() {
			return ""
		}
		return fails(k)
	}
	return m
}

func notNearest(k Problem) string {
	switch {
	case k.truncates():
		return fmt.Sprintf("%s truncates: its errors exceed u and have one sign", k.Device.Name)
	case k.roundsToOdd():
		return fmt.Sprintf("%s rounds to odd: its errors reach 2u", k.Device.Name)
	case k.stochastic():
		return "rounding is stochastic: errors reach 2u"
	case k.Order == tcore.Compensated:
		return "sums are compensated: their errors are not one factor 1+δ each"
	}
	return ""
}

func notIndependent(k Problem) string {
	if why := notNearest(k); why != "" {
		return why
	}
	return stagnates(k)
}

func notMeanIndependent(k Problem) string {
	switch {
	case k.stochastic() && k.Stochastic.Bits < 32:
		return fmt.Sprintf("rounding is stochastic by %d bits: errors have a mean of up to 2^-%d quanta", k.Stochastic.Bits, k.Stochastic.Bits)
	case k.stochastic() && k.Order != tcore.Compensated:
		return ""
	case k.stochastic():
		return "sums are compensated: their errors are not one factor 1+δ each"
	}
	return notIndependent(k)
}

func notTruncating(k Problem) string {
	if !k.truncates() {
		return fmt.Sprintf("%s does not truncate", k.Device.Name)
	}
	return ""
}

// notOneFormat returns why the roundings of a chain do not all have the same
// unit roundoff, or "".
func notOneFormat(k Problem) string {
	if len(k.roundings()) > 1 {
		return k.Device.Name + " rounds to more than one format"
	}
	return ""
}

// stagnates returns why errors of rounding to nearest cannot have mean zero, or
// "". In a sum of more than 1/u terms of one sign, a term is less than half a
// unit in the last place of the running sum, and is lost.
func stagnates(k Problem) string {
	for _, r := range k.roundings() {
		if x := float64(r.n) * r.u; x >= 1 {
			return fmt.Sprintf("nu = %.3g, want nu < 1: long sums stop growing, errors have a sign", x)
		}
	}
	return ""
}

// truncates reports whether the machine aligns and truncates terms instead of
// rounding every sum.
func (k Problem) truncates() bool {
	switch k.Device.Core.(type) {
	case tcore.Fused, tcore.Split, tcore.TwoStage:
		return true
	}
	return false
}

// roundsToOdd reports whether the machine rounds sums to odd.
func (k Problem) roundsToOdd() bool {
	_, odd := k.Device.Core.(tcore.OddPairs)
	return odd
}
