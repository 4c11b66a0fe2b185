package truncation

import (
	"math"
	"math/cmplx"

	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/dsp/fourier"
)

// RoundingLoss bounds moments of r, what rounding the aligned sum S of a block
// discards: Mean bounds the mean of |r|, or to nearest the absolute value of
// the mean of r, and Square bounds the mean of r².
type RoundingLoss struct{ Mean, Square float64 }

type endKind struct {
	L, E    int
	u       float64
	nearest bool
	f       roundoff.Failure
}

// residues is the number of residues modulo the unit in the last place that
// Rounding distinguishes, and fineResidues the largest number that the bound of
// a Sum does.
const residues, fineResidues = 64, 256

// Rounding returns bounds on the moments of r for blocks of L products aligned
// to E, whose sum S is truncated toward zero to a multiple of u, or rounded to
// nearest. S is a multiple of g = 2^(E-F), and r/g is the residue of S/g modulo
// n = u/g. For any running sum, by the characters of the integers modulo n,
//
//	E|r|/g <= (n-1)/2 + Σ_(0<h<n) |φ(h)|^L/(2 sin(πh/n)),  φ(h) = E exp(2πi h p̃/u),
//
// where p̃ is what alignment keeps of a product, and always E|r|/g <= n-1. Data
// whose low bits are evenly distributed have φ near 0 and a mean loss of
// (u-g)/2. For data of few bits the bound is the largest possible loss. To
// nearest the term (n-1)/2 is 0, and at most n/2 is lost. Rounding
// distinguishes at most 64 residues and assumes that finer bits are uniform.
//
// If φ is estimated from a sample, a bound on the error of the estimate is
// added; all of them together fail with probability at most e^f.
//
// This is a model: it assumes that the low bits of S do not depend on its
// leading ones, on which exponent is the greatest, or on what alignment cuts
// off. Rounding panics unless -Inf < f < 0.
//
// Source: derived here, by Fourier analysis on the residues: |Σ_r r exp(2πi
// hr/n)| = n/(2 sin(πh/n)).
func (l *Losses) Rounding(L, E int, u float64, nearest bool, f roundoff.Failure) RoundingLoss {
	check.Number("failure", float64(f), roundoff.Never < f && f < 0, "-Inf < failure < 0, a logarithm")
	g := math.Ldexp(1, E-l.F)
	if u <= g {
		return RoundingLoss{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := endKind{L, E, u, nearest, f}
	if r, ok := l.ends[k]; ok {
		return r
	}
	step := max(g, u/residues)
	n := int(u / step)
	r := rounding(n, l.bias(n, L, E, step, f.Split(2*float64(n))), nearest)
	z := RoundingLoss{r.Mean * step, r.Square * (step * step)}
	if !nearest {
		z.Mean += (step - g) / 2
		z.Square += z.Mean * (step - g)
	}
	l.ends[k] = z
	return z
}

// rounding returns the bounds in steps, n of them to a unit u. bias bounds the
// sum over the characters.
func rounding(n int, bias float64, nearest bool) RoundingLoss {
	x := float64(n)
	if nearest {
		return RoundingLoss{min(x/2, bias), min(x*x/4, (x*x+2)/12+x*bias)}
	}
	return RoundingLoss{
		min(x-1, (x-1)/2+bias),
		min((x-1)*(x-1), (x-1)*(2*x-1)/6+2*(x-1)*bias),
	}
}

// bias returns Σ_(0<h<n) |φ(h)|^L/(2 sin(πh/n)) for products of exponent at
// most E, in steps modulo n. The real and the imaginary part of each φ fail
// with probability at most e^f each. The caller must hold the lock.
func (l *Losses) bias(n, L, E int, step float64, f roundoff.Failure) float64 {
	of, total, steps := make([]float64, n), 0.0, 1/step // step is a power of two
	for i, v := range l.Products.value {
		if l.Products.exp[i] <= E {
			of[int64(v*steps)&int64(n-1)] += l.Products.weight[i]
			total += l.Products.weight[i]
		}
	}
	if total == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for i, φ := range l.Products.transform(of) {
		φ = min(1, φ/total+l.Products.unsure(total, f))
		b := math.Pow(φ, float64(L)) / (2 * math.Sin(math.Pi*float64(i+1)/float64(n)))
		if sum += b; i+1 < n/2 { // and its complex conjugate, n-h
			sum += b
		}
	}
	return sum
}

// transform returns |Σ_r of[r] exp(2πi hr/n)| for h = 1 ... n/2, n being a
// power of two; for a symmetric distribution it returns the absolute value of
// the real part.
func (p *ProductDistribution) transform(of []float64) []float64 {
	sums := fourier.NewFFT(len(of)).Coefficients(nil, of)[1:]
	size := make([]float64, len(sums))
	for i, z := range sums {
		if p.symmetric {
			z = complex(real(z), 0)
		}
		size[i] = cmplx.Abs(z)
	}
	return size
}

// unsure returns a bound on the error of the mean of a character over the given
// part of a sample. Its real and its imaginary part, which are in [-1, 1], fail
// with probability at most e^f each.
func (p *ProductDistribution) unsure(part float64, f roundoff.Failure) float64 {
	if math.IsInf(p.Samples, 1) {
		return 0
	}
	t := roundoff.Azuma(1/(p.Samples*part), f)
	if p.symmetric {
		return t
	}
	return math.Sqrt2 * t
}

// A character is |E(χ_h(p̃/g); e <= E)|, the same for e < E, and sin(πh/n).
type character struct{ atMost, below, sine float64 }

// characters returns the characters h = 1 ... n/2 of the integers modulo n, n
// being a power of two, for products aligned to E, from the weights of the
// table. [ProductDistribution.unsure] bounds their error if the table is from a
// sample.
func (l *Losses) characters(E, n int) []character {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := [2]int{E, n}
	if φ, ok := l.chars[k]; ok {
		return φ
	}
	p, step := l.Products, math.Ldexp(1, l.F-E)
	atMost, below := make([]float64, n), make([]float64, n)
	for i, v := range p.value {
		if p.exp[i] > E {
			continue
		}
		r := int64(v*step) & int64(n-1)
		if atMost[r] += p.weight[i]; p.exp[i] < E {
			below[r] += p.weight[i]
		}
	}
	φ, less := make([]character, n/2), p.transform(below)
	for i, x := range p.transform(atMost) {
		φ[i] = character{x, less[i], math.Sin(math.Pi * float64(i+1) / float64(n))}
	}
	l.chars[k] = φ
	return φ
}
