package roundoff

import "math"

// RoundingLoss bounds what rounding the kept sum S of a block takes away, r: the mean of |r|, or
// to nearest the size of the mean of r, and the mean of r².
type RoundingLoss struct{ Mean, Square float64 }

type endKind struct {
	L, E    int
	u       float64
	nearest bool
}

// residues is how many residues modulo the unit in the last place are told apart.
const residues = 64

// Rounding returns the law of r for blocks of L products aligned to E, whose sum is cut to a
// multiple of u, toward zero, or rounded to nearest. S is a multiple of g = 2^(E-F), and r/g is
// what it leaves modulo n = u/g. On top of any running sum, with characters of the integers
// modulo n,
//
//	E|r|/g <= (n-1)/2 + Σ_(0<h<n) |φ(h)|^L/(2 sin(πh/n)),  φ(h) = E exp(2πi h p̃/u),
//
// p̃ being what is kept of a product, and never more than n-1. Data whose bits are spread have φ
// near 0 and lose half a unit less half a step; of data of few bits the bound is that all is
// lost. To nearest the first part is 0, and never more than n/2 is lost. It tells at most 64
// residues apart and takes finer bits as uniform.
//
// It is for blocks in which the low bits of S do not depend on its leading ones, nor on which
// exponent is the greatest.
//
// Source: derived here, by Fourier analysis on the residues: |Σ_r r exp(2πi hr/n)| = n/(2 sin(πh/n)).
func (l *Losses) Rounding(L, E int, u float64, nearest bool) RoundingLoss {
	g := math.Ldexp(1, E-l.F)
	if u <= g {
		return RoundingLoss{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := endKind{L, E, u, nearest}
	if r, ok := l.ends[k]; ok {
		return r
	}
	step := max(g, u/residues)
	n := int(u / step)
	r := rounding(n, l.bias(n, L, E, step), nearest)
	z := RoundingLoss{r.Mean * step, r.Square * (step * step)}
	if !nearest {
		z.Mean += (step - g) / 2
		z.Square += z.Mean * (step - g)
	}
	l.ends[k] = z
	return z
}

// rounding returns the law in steps, n of them to a unit, given the bias that characters allow.
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

// bias returns Σ |φ(h)|^L/(2 sin(πh/n)) for products in steps, modulo n, that have an exponent
// of at most E. The caller holds the lock.
func (l *Losses) bias(n, L, E int, step float64) float64 {
	p := l.Law
	var of [residues]float64
	total := 0.0
	for i, v := range p.value {
		if p.exp[i] <= E {
			of[int64(v/step)&int64(n-1)] += p.weight[i]
			total += p.weight[i]
		}
	}
	if total == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for h := 1; h < n; h++ {
		re, im := 0.0, 0.0
		for k, w := range of[:n] {
			s, c := math.Sincos(2 * math.Pi * float64(h*k%n) / float64(n))
			re, im = re+w*c, im+w*s
		}
		if p.symmetric {
			im = 0
		}
		φ := min(1, math.Hypot(re, im)/total+3/math.Sqrt(p.Samples*total))
		sum += math.Pow(φ, float64(L)) / (2 * math.Sin(math.Pi*float64(h)/float64(n)))
	}
	return sum
}
