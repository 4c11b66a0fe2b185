package roundoff

import "math"

// Symmetric are N independent numbers that are symmetric about 0, at most Most
// in size, and have a variance of at most Variance.
type Symmetric struct {
	Most, Variance float64
	N              int
}

// SymmetricTail returns a t that |Σ x| exceeds with probability at most ζ =
// e^f, for independent symmetric numbers x of several kinds whose sum is as
// smooth as that of uniform numbers of their variances V. It is the lesser of
//
//	Σ Most
//	(K(θ) + log(2/ζ) + log(J/θ))/θ     at one θ,
//
// with K(θ) = Σ log(1 + (V/Most²)(cosh(θ Most) - 1)). It is no less than log E
// exp(θ Σ x), as cosh √y is convex in y. Let p be the density of the sum under
// the tilted law, of density exp(θx)/E exp(θ Σ x) relative to the law of the
// sum. If p <= J,
//
//	P(Σ x > t) <= ∫_0^∞ exp(K(θ) - θt - θu) p(t+u) du <= exp(K(θ) - θt) J/θ.
//
// J is that of uniform numbers: the integral of |φ|/2π over the characteristic
// function of their sum, and no more than one over its standard deviation, as p
// is log-concave then. Of many uniform numbers no t is less by one percent.
//
// It panics unless 0 <= V <= Most² < +Inf, but for rounding, and N >= 0 in each
// kind, and -Inf < f < 0.
//
// Source: derived here, from Esscher 1932; Bobkov & Ledoux 2019, Appendix B.
func SymmetricTail(x []Symmetric, f Failure) float64 {
	var most, variance float64
	for _, s := range x {
		check.Number("Most", s.Most, s.Most >= 0 && s.Most <= math.MaxFloat64, "a finite number of at least 0")
		check.Number("Variance", s.Variance, s.Variance >= 0 && s.Variance <= s.Most*s.Most*(1+1e-9), "0 <= Variance <= Most²")
		check.Index("N", s.N)
		n := float64(s.N)
		most += n * s.Most
		variance += n * s.Variance
	}
	l := f.TwoSidedLog()
	if variance == 0 || math.IsInf(variance, 1) {
		return most
	}
	σ := math.Sqrt(variance)
	var sum smoothSum // in units of σ
	for _, s := range x {
		if s.N > 0 && s.Variance > 0 {
			sum = append(sum, Symmetric{s.Most / σ, s.Variance / variance, s.N})
		}
	}
	θ := sum.steepest(l)
	k, _, _ := sum.cumulant(θ)
	return min(most, σ*(k+l+math.Log(sum.density(θ)/θ))/θ)
}

// smoothSum is a sum of symmetric numbers of variance 1.
type smoothSum []Symmetric

// steepest returns nearly the θ at which (K(θ) + l + log(J/θ))/θ is least: J is
// that of a normal number, 1/√(2πK″), and constant in each step.
func (x smoothSum) steepest(l float64) float64 {
	θ := math.Sqrt(2 * l)
	for range 5 {
		k, k1, k2 := x.cumulant(θ)
		above := θ*k1 - 1 - k - l + math.Log(θ*math.Sqrt(2*math.Pi*k2))
		θ = max(θ/2, min(2*θ, θ-above/(θ*k2+1/θ)))
	}
	return θ
}

// cumulant returns K(θ), K′(θ) and K″(θ).
func (x smoothSum) cumulant(θ float64) (k, k1, k2 float64) {
	for _, s := range x {
		n, h := float64(s.N), s.Most
		a, ρ := θ*h, s.Variance/(h*h)
		e := math.Exp(-a) // the factor in the numbers below, which would overflow
		cosh, sinh := ρ*(1+e*e)/2, ρ*(1-e*e)/2
		sum := (1-ρ)*e + cosh
		k += n * (a + math.Log(sum))
		k1 += n * h * sinh / sum
		k2 += n * h * h * (cosh/sum - sinh/sum*sinh/sum)
	}
	return k, k1, k2
}

// density returns the greatest density that uniform numbers of the variances of
// x can have under the law tilted by θ: the integral of |φ(w)|/2π over all w, φ
// being the characteristic function, or one over their standard deviation.
//
// The trapezoidal rule errs by exp(-2πd/step) if |φ| is analytic at a distance
// below d from the real line, which it is up to θ: there are its zeros. Where
// the rule ends, each interval is twice as long as that before it and has the
// value at its begin of what does not increase and is no less: |φ| with 1 in
// place of sin b for b > π/2.
func (x smoothSum) density(θ float64) float64 {
	const step, end = 0.5, 6
	type uniform struct{ n, width, inverse float64 } // inverse is 1/sinh(θ width)²
	var list []uniform
	var number, variance float64 // the latter of the tilted law
	for _, s := range x {
		h := math.Sqrt(3 * s.Variance)
		a := θ * h
		u := uniform{float64(s.N), h, 1 / (math.Sinh(a) * math.Sinh(a))}
		list = append(list, u)
		number += u.n
		variance += u.n * h * h * (1/(a*a) - u.inverse)
	}
	modulus := func(w float64, sin func(b float64) float64) float64 {
		log := -number * math.Log1p(w*w/(θ*θ))
		for _, u := range list {
			b := sin(u.width * w)
			log += u.n * math.Log1p(b*b*u.inverse)
		}
		return math.Exp(log / 2)
	}
	most := 1 / math.Sqrt(variance)
	sum := 0.5
	for w := step; w < end; w += step {
		sum += modulus(w, math.Sin)
	}
	sum *= step
	highest := func(b float64) float64 { return math.Sin(min(b, math.Pi/2)) }
	for w := float64(end); w < 0x1p60; w *= 2 {
		rest := w * modulus(w, highest)
		if sum += rest; rest < 1e-6*sum {
			return min(most, (sum+rest)/math.Pi)
		}
	}
	return most // of one number there is no integral
}
