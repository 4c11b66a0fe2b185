package truncation

import (
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// RoundingLoss bounds what rounding the kept sum S of a block takes away, r:
// the mean of |r|, or to nearest the size of the mean of r, and the mean of r².
type RoundingLoss struct{ Mean, Square float64 }

type endKind struct {
	L, E    int
	u       float64
	nearest bool
	f       roundoff.Failure
}

// residues is how many residues modulo the unit in the last place Rounding
// tells apart, and fineResidues how many the bound of a Sum does.
const residues, fineResidues = 64, 256

// Rounding returns the distribution of r for blocks of L products aligned to E,
// whose sum is cut to a multiple of u, toward zero, or rounded to nearest. S is
// a multiple of g = 2^(E-F), and r/g is what it leaves modulo n = u/g. On top
// of any running sum, with characters of the integers modulo n,
//
//	E|r|/g <= (n-1)/2 + Σ_(0<h<n) |φ(h)|^L/(2 sin(πh/n)),  φ(h) = E exp(2πi h p̃/u),
//
// p̃ being what is kept of a product, and never more than n-1. Data whose bits
// are spread have φ near 0 and lose half a unit less half a step; of data of
// few bits the bound is that all is lost. To nearest the first part is 0, and
// never more than n/2 is lost. It tells at most 64 residues apart and takes
// finer bits as uniform.
//
// What a sample leaves open of φ is added, but for a failure of e^f.
//
// It is a model: of blocks in which the low bits of S do not depend on its
// leading ones, on which exponent is the greatest, nor on what alignment cuts
// off. It panics unless -Inf < f < 0.
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

// rounding returns the distribution in steps, n of them to a unit, given the
// bias that characters allow.
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

// bias returns Σ |φ(h)|^L/(2 sin(πh/n)) for products in steps, modulo n, that
// have an exponent of at most E, with a failure of e^f for each part of each φ.
// The caller holds the lock.
func (l *Losses) bias(n, L, E int, step float64, f roundoff.Failure) float64 {
	of, total := make([]float64, n), 0.0
	for i, v := range l.Products.value {
		if l.Products.exp[i] <= E {
			of[int64(v/step)&int64(n-1)] += l.Products.weight[i]
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
		if sum += b; i+1 < n/2 { // and the conjugate
			sum += b
		}
	}
	return sum
}

// transform returns |Σ_r of[r] exp(2πi hr/n)| for h = 1 ... n/2, n being a
// power of two; of its real part for a symmetric distribution.
func (p *ProductDistribution) transform(of []float64) []float64 {
	n := len(of)
	sines, cosines := make([]float64, n), make([]float64, n)
	for k := range n {
		sines[k], cosines[k] = math.Sincos(2 * math.Pi * float64(k) / float64(n))
	}
	size := make([]float64, n/2)
	for h := 1; h <= n/2; h++ {
		re, im := 0.0, 0.0
		for r, w := range of {
			k := h * r & (n - 1)
			re, im = re+w*cosines[k], im+w*sines[k]
		}
		if p.symmetric {
			im = 0
		}
		size[h-1] = math.Hypot(re, im)
	}
	return size
}

// unsure returns how far the mean of a character over that part of a sample may
// be from the truth, with a failure of e^f for each of its parts, real and
// imaginary, which are in [-1, 1].
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

// characters returns those of h = 1 ... n/2 of the integers modulo n, n being a
// power of two, of products aligned to E, as the table has them. What that
// leaves open is [ProductDistribution.unsure].
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
