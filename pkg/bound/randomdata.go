package bound

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// RandomData uses that sums of random products stay small: Higham & Mary 2020. Its constant is
// that of K E|p|, the mean of Σ|p|.
var RandomData = register(Bound{
	Name:    "higham-mary-2020",
	Source:  "Higham & Mary 2020, for exact products",
	Model:   MeanIndependent,
	Needs:   Moments,
	Assumes: "over the mean of |A||B|",
	Fails:   notRandomData,
	Constant: func(k Kernel, f roundoff.Failure) Value {
		p, n := k.X.product(k.Y), k.Length()
		e, λ := roundoff.RandomData(n, k.coarsest(), p.Mean, p.Max, k.each(f))
		return Value{e / (float64(n) * p.Abs), math.Inf(1), λ}
	},
})

// RandomDataSharp is RandomData with the variance of the products and no step rounded up.
var RandomDataSharp = register(Bound{
	Name:    "random-data",
	Source:  "derived from Higham & Mary 2020",
	Model:   MeanIndependent,
	Needs:   Moments,
	Assumes: "over the mean of |A||B|",
	Fails:   notRandomData,
	Constant: func(k Kernel, f roundoff.Failure) Value {
		p, n := k.X.product(k.Y), k.Length()
		variance := max(0, p.Square-p.Mean*p.Mean)
		e, λ := roundoff.RandomDataSharp(n, k.coarsest(), p.Mean, variance, p.Max, k.each(f))
		return Value{e / (float64(n) * p.Abs), math.Inf(1), λ}
	},
})

// notRandomData returns why a bound for one chain of exact products that are random does not
// hold, or "".
func notRandomData(k Kernel) string {
	switch {
	case !k.exactProducts():
		return "products are rounded"
	case k.isTree():
		return "products are added in pairs"
	}
	return notOneFormat(k)
}
