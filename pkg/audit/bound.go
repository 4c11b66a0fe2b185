package audit

import (
	"math"
	"slices"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/quantisation"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// elementwise returns an upper bound of |E| for each output, where x = Â and y
// = B̂, and one of |Â||B̂|, which is at most |A||B| + |δA||B| + |Â||δB|. Both
// contain what binary64 rounds, in the bound and in E; there is no error where
// all terms of the bound are 0.
func (l *Layer) elementwise(a, b, x, y blas64.General) (most, sizes blas64.General) {
	p, err := quantisation.Known(a, b, x, y)
	if err != nil {
		panic("audit: " + err.Error()) // all four are finite
	}
	γ := l.binary64()
	most = p.Elementwise()
	sizes = matrix.Map64(func(s float64) float64 { return (1 + γ) * s }, plus(l.abs, most))
	for i, s := range most.Data {
		if s > 0 {
			most.Data[i] = (1 + γ) * (s + γ*(l.abs.Data[i]+sizes.Data[i]))
		}
	}
	return most, sizes
}

// binary64 returns γ of the sums of products in binary64, with a few operations
// besides.
func (l *Layer) binary64() float64 {
	return roundoff.Gamma(2*l.a.Cols+8, tcore.Binary64.UnitRoundoff())
}

// accumulation returns an upper bound of |D̂ - ÂB̂| for each output that does
// not overflow, given one of |Â||B̂|.
//
// Sums σ̂ of codes on the device are within β|σ| + η of those without rounding,
// |σ| that of absolute values. Scales S = sA sB are rounded to S(1+ρ) in
// binary32, and n sums are added to one another by one FMA each, which errs by
// at most u of its result, or by ν where that is subnormal. The scales of both
// tensors are multiplied, and the sum by them. Composed, these relative errors
// are at most C, and
//
//	|D̂ - ÂB̂| <= C|Â||B̂| + (1+C)(ηΣS + nν)T + ν,
//
// with T the product of the scales of both tensors, and without ν where T is 1.
// On a device with scales of its own n and ρ are 0, and ΣS is 1. Where sums are
// known, step by step, a bound of Σ S|σ̂ - σ| stands for ηΣS, and β is 0. The
// lesser of both is taken.
func (l *Layer) accumulation(a, b *quant.Quantised, cols []int, d tcore.Device, every int, sizes blas64.General) blas64.General {
	const ν = 0x1p-150 // half the least subnormal number of binary32
	K, u := l.a.Cols, tcore.Binary32.UnitRoundoff()
	if every == 0 {
		every = K
	}
	k := bound.Problem{M: len(l.rows), N: len(cols), K: every, Machine: tcore.Machine{Device: d}}
	S, ρ, n := filled(len(l.rows), len(cols), 1), matrix.New64(len(l.rows), len(cols)), 0
	if d.ScaleBlock > 0 {
		k.RangeX, k.RangeY = l.ranges(a, b, cols)
	} else {
		k.RangeX, k.RangeY = bound.RangesOf32(l.codes(a, b, cols))
		n = (K + every - 1) / every
		S, ρ = l.scales(a, b, cols, every)
	}
	β, η := always(k)
	T := float64(a.TensorScale()) * float64(b.TensorScale())
	last, rounded := 0.0, 0.0 // what multiplying by T adds
	if T != 1 {
		t := float64(a.TensorScale() * b.TensorScale())
		rounded, last = roundoff.Compose(math.Abs(t-T)/T, u), ν
	}
	outside, γ := roundoff.Compose(roundoff.Gamma(n, u), rounded), l.binary64()
	of := func(i int, β, lost float64) float64 {
		C := roundoff.Compose(roundoff.Compose(β, outside), ρ.Data[i])
		return (1 + γ) * (C*sizes.Data[i] + γ*sizes.Data[i] + (1+C)*(lost+float64(n)*ν)*T + last)
	}
	z := matrix.New64(sizes.Rows, sizes.Cols)
	lost, known := l.truncated(a, b, cols, d, every)
	for i := range z.Data {
		z.Data[i] = of(i, β, η*S.Data[i])
		if known {
			z.Data[i] = min(z.Data[i], of(i, 0, lost.Data[i]))
		}
	}
	return z
}

// always returns the least β of the catalogue, and its η, with |error| <= β
// |A||B| + η in any case; +Inf if there is none.
func always(k bound.Problem) (β, η float64) {
	results, err := bound.Evaluate(k, roundoff.FailureOf(0.99))
	if err != nil {
		panic("audit: " + err.Error()) // there is no distribution
	}
	best, found := bound.Tightest(slices.DeleteFunc(results, func(r bound.Result) bool { return r.Confidence != roundoff.Never }))
	if !found {
		return math.Inf(1), 0
	}
	return best.Constant, best.Underflow
}

// scales returns for each output the sum of the scales of its parts of K, and
// the greatest relative error of rounding one of them to binary32.
func (l *Layer) scales(a, b *quant.Quantised, cols []int, every int) (S, ρ blas64.General) {
	n := (l.a.Cols + every - 1) / every
	x, y := matrix.New64(len(l.rows), n), matrix.New64(n, len(cols))
	leastX, leastY := slices.Repeat([]float64{math.Inf(1)}, x.Rows), slices.Repeat([]float64{math.Inf(1)}, y.Cols)
	set := func(to, least *float64, s float32) {
		if *to = float64(s); s > 0 { // a product of 0 is exact
			*least = min(*least, *to)
		}
	}
	for p := range n {
		for r, i := range l.rows {
			set(&x.Data[r*x.Stride+p], &leastX[r], a.Scale(i, p*every))
		}
		for c, j := range cols {
			set(&y.Data[p*y.Stride+c], &leastY[c], b.Scale(p*every, j))
		}
	}
	ρ = matrix.New64(x.Rows, y.Cols)
	for r, s := range leastX {
		for c, t := range leastY {
			ρ.Data[r*ρ.Stride+c] = max(tcore.Binary32.UnitRoundoff(), tcore.Binary32.MinSubnormal()/2/(s*t))
		}
	}
	return matrix.Product64(x, y), ρ
}

// ranges returns what package bound wants to know of codes and scales of a
// device with scales of its own.
func (l *Layer) ranges(a, b *quant.Quantised, cols []int) (x, y bound.Range) {
	p, q := l.codes(a, b, cols)
	x, y = bound.RangesOf32(p, q)
	x.LeastScale, y.LeastScale = math.Inf(1), math.Inf(1)
	for k := range l.a.Cols {
		for _, i := range l.rows {
			s := float64(a.Scale(i, k))
			x.Scale, x.LeastScale = max(x.Scale, s), min(x.LeastScale, s)
		}
		for _, j := range cols {
			s := float64(b.Scale(k, j))
			y.Scale, y.LeastScale = max(y.Scale, s), min(y.LeastScale, s)
		}
	}
	return x, y
}
