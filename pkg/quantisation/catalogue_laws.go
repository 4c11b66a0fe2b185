package quantisation

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"gonum.org/v1/gonum/blas/blas64"
)

// ofLaws needs no matrix: it can be asked before there is one.
var ofLaws = Bound{
	Name:    "laws",
	Source:  "Chernoff 1952; Esscher 1932; Shevtsova 2013; Graham & Vaaler 1981; derived here",
	Formula: "min over t of (nK(t) + log(2MN/ζ))/t, K(t) = log E exp(t Σ(âb̂ - ab)) of a block, or less",
	Needs:   LawOfA | LawOfB,
	Assumes: "elements of A and B are independent, of these laws",
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		a, err := k.RoundA.factor(k.LawA, f)
		if err != nil {
			return 0, err
		}
		b, err := k.RoundB.factor(k.LawB, f)
		if err != nil {
			return 0, err
		}
		a, b = a.of(k.K, k.M), b.of(k.K, k.N)
		if a.scaled() && b.scaled() && a.Length != b.Length {
			return 0, fmt.Errorf("blocks of %d and %d elements, want one length", a.Length, b.Length)
		}
		if err := blocks(k.K, a, b); err != nil {
			return 0, err
		}
		return Product{A: a, B: b, M: k.M, K: k.K, N: k.N}.Errors(f).Size(), nil
	},
}

// blocks returns an error unless K is a multiple of the lengths of blocks.
func blocks(K int, factors ...Factor) error {
	for _, x := range factors {
		if x.Length > 0 && K%x.Length != 0 {
			return fmt.Errorf("K = %d, want a multiple of %d, the length of a block", K, x.Length)
		}
	}
	return nil
}

// ofLawOfA is for weights B that are known.
var ofLawOfA = Bound{
	Name:    "law-of-a",
	Source:  "Chernoff 1952; derived here",
	Formula: "min over t of (Σ_k log E exp(t(âb̂_k - ab_k)) + log(2MN/ζ))/t, of each column of B",
	Needs:   LawOfA | MatrixB,
	Assumes: "elements of A are independent, of this law",
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return given(k.RoundA, k.LawA, k.M, k.b.x, k.b.hat, f)
	},
}

// ofLawOfB is the same for AᵀBᵀ.
var ofLawOfB = Bound{
	Name:    "law-of-b",
	Source:  ofLawOfA.Source,
	Formula: "min over t of (Σ_k log E exp(t(â_k b̂ - a_k b)) + log(2MN/ζ))/t, of each row of A",
	Needs:   LawOfB | MatrixA,
	Assumes: "elements of B are independent, of this law",
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return given(k.RoundB, k.LawB, k.N, transposed(k.a.x), transposed(k.a.hat), f)
	},
}

// given returns the largest error of m rows of a law times a known matrix.
func given(r Rounding, l Law, m int, x, hat blas64.General, f roundoff.Failure) (float64, error) {
	a, err := r.factor(l, f)
	if err != nil {
		return 0, err
	}
	if a.Tensor != 0 {
		return 0, fmt.Errorf("recipe %s: a scale of the tensor besides those of blocks, want none or the laws of both factors", r.name())
	}
	if err := blocks(x.Rows, a.of(x.Rows, m)); err != nil {
		return 0, err
	}
	z := 0.0
	for _, e := range (Given{A: a, M: m, B: x, BHat: hat}).Errors(f) {
		z = max(z, e.Size())
	}
	return z, nil
}

func transposed(m blas64.General) blas64.General {
	z := matrix.New64(m.Cols, m.Rows)
	for at, v := range m.Data {
		z.Data[at%m.Cols*z.Stride+at/m.Cols] = v
	}
	return z
}

// conformal is from rows that calibrated.
var conformal = Bound{
	Name:    "conformal",
	Source:  "Vovk, Gammerman & Shafer 2005; Papadopoulos et al. 2002",
	Formula: "the ⌈(n+1)(1-ζ/M)⌉-th of the largest errors of n other rows of A",
	Needs:   OtherRows | MatrixB,
	Assumes: "these rows and those of A are exchangeable",
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		if r := k.RoundA.Recipe; r.Name != "" && (r.Block.Across != 1 || r.Tensor != nil) {
			return 0, fmt.Errorf("the errors of a row depend on other rows, with which recipe %s has a scale in common", r.Name)
		}
		p, err := Known(k.rows.x, k.b.x, k.rows.hat, k.b.hat)
		if err != nil {
			return 0, err
		}
		α := math.Exp(float64(f.Split(float64(k.M))))
		if α == 0 {
			return 0, fmt.Errorf("%d rows, want more than there are numbers in float64", k.Rows.Rows)
		}
		return Conformal(RowMaxima(p.Error()), α)
	},
}

// worstCaseOfLaws is the deterministic bound for the greatest numbers of laws.
var worstCaseOfLaws = Bound{
	Name:    "worst-case-laws",
	Source:  worstCase.Source,
	Formula: "K(v + w + vw) max|a|' max|b|', v and w = u, or what a scale clips",
	Needs:   LawOfA | LawOfB,
	Assumes: "elements of A and B are of these laws, dependent or not",
	Random:  true,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		v, a, err := k.RoundA.greatest(k.LawA, f.Split(2).Split(float64(k.M)*float64(k.K)))
		if err != nil {
			return 0, err
		}
		w, b, err := k.RoundB.greatest(k.LawB, f.Split(2).Split(float64(k.K)*float64(k.N)))
		return float64(k.K) * composed(v, w) * a * b, err
	},
}

// meanWorstCase is what the deterministic bound comes to, about 2u.
var meanWorstCase = Bound{
	Name:    "worst-case-mean",
	Source:  worstCase.Source,
	Formula: "K(v + w + vw) E|a| E|b|, v and w = u to nearest, 2u with random bits",
	Needs:   LawOfA | LawOfB,
	Assumes: "no element is clipped or underflows",
	Fails: func(Problem) string {
		return "a mean: every output has v + w + vw of its own |A||B|, this is that of all outputs, without clipping and underflow"
	},
	limit: func(k *evaluation, _ roundoff.Failure) (float64, error) {
		return composed(k.RoundA.most(), k.RoundB.most()) * k.size, nil
	},
}

// greatest returns w and x with |x̂ - x| <= w max|x|', for numbers of a law of
// which each is greater in magnitude with a probability of at most e^f.
func (r Rounding) greatest(l Law, f roundoff.Failure) (w, x float64, err error) {
	z, err := r.factor(l, f)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := l.bounds()
	if l.Interval != nil {
		lo, hi = l.Interval(f)
	}
	x = max(math.Abs(lo), math.Abs(hi))
	if r.Recipe.Name != "" && (len(z.Scales) == 0 || z.Tensor != 0) {
		return 0, 0, fmt.Errorf("the scales of recipe %s are not known beforehand", r.Recipe.Name)
	}
	unit, clipped := 1.0, 0.0
	scales := z.Scales
	if len(scales) == 0 {
		scales = []Scale{{1, math.Inf(1)}}
	}
	for _, s := range scales {
		unit = s.Value
		clipped = max(clipped, min(s.Top, x)-z.Format.Max()*s.Value)
		if s.Top >= x {
			break
		}
	}
	return max(r.most(), clipped/x), max(x, z.Format.MinNormal()*unit), nil
}
