package bound

import "github.com/roundofflab/roundoff/pkg/roundoff"

// RandomData uses probabilistic bounds on the running sums of random products:
// Higham & Mary 2020.
var RandomData = register(Bound{
	Name:    "higham-mary-2020",
	Source:  "Higham & Mary 2020, for exact products",
	Formula: `\frac{(\lambda\lvert\mu\rvert K^{3/2} + \lambda^2 CK)\,u}{1 - \lambda\sqrt K\,u}`,
	Model:   MeanIndependent,
	Needs:   Moments,
	Fails:   notRandomData,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return k.randomData(f, func(n int, p productMoments, f roundoff.Failure) (e, lambda float64) {
			return roundoff.RandomData(n, k.coarsest(), p.mean, p.largest(), f)
		})
	},
})

// RandomDataSharp is RandomData with the variance of the products, Bernstein's
// inequality for the running sums, and the sum of their squared bounds in place
// of K times the last one.
var RandomDataSharp = register(Bound{
	Name:    "random-data",
	Source:  "derived from Higham & Mary 2020",
	Formula: `\frac{\lambda u\sqrt{\sum_k (k\lvert\mu\rvert + t_k)^2}}{1 - \lambda\sqrt K\,u}`,
	Model:   MeanIndependent,
	Needs:   Moments,
	Fails:   notRandomData,
	Constant: func(k Problem, f roundoff.Failure) Value {
		return k.randomData(f, func(n int, p productMoments, f roundoff.Failure) (e, lambda float64) {
			return roundoff.RandomDataSharp(n, k.coarsest(), p.mean, p.variance, p.largest(), f)
		})
	},
})

// randomData returns the Value of a bound on the error itself, where of(n, p,
// f) is the bound for one chain of length n, with probability of failure e^f.
func (k Problem) randomData(f roundoff.Failure, of func(int, productMoments, roundoff.Failure) (e, lambda float64)) Value {
	account, p, λ := f.Account(sizeShares), k.products(), nan
	each := k.each(account.Spend("error"))
	e := k.chains(func(n int) float64 {
		e, lambda := of(n, p, each)
		λ = lambda
		return e
	})
	return k.overSizes(e, λ, account.Spend("sizes"))
}

// notRandomData returns why a bound for one chain of exact products of random
// data is not valid for the problem, or "".
func notRandomData(k Problem) string {
	switch {
	case !k.exactProducts():
		return "products are rounded"
	case k.isTree():
		return "products are not added one after the other"
	}
	return notOneFormat(k)
}
