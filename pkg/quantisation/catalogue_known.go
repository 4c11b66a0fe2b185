package quantisation

import (
	"errors"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas/blas64"
)

// exactError is E itself, with what binary64 adds.
var exactError = Bound{
	Name:    "exact",
	Source:  "algebra",
	Formula: "|Â dB + dA B|",
	Needs:   MatrixA | MatrixB,
	Assumes: "always",
	limit: func(k *evaluation, _ roundoff.Failure) (float64, error) {
		γ := roundoff.Gamma(2*k.K+1, tcore.Binary64.UnitRoundoff())
		return most(elementwise(func(e, size float64) float64 { return math.Abs(e) + float64(γ*size) }, k.product.Error(), k.product.Elementwise())), nil
	},
}

// elementwiseError does not see that errors cancel.
var elementwiseError = Bound{
	Name:    "elementwise",
	Source:  "triangle inequality",
	Formula: "|dA||B| + |Â||dB|",
	Needs:   MatrixA | MatrixB,
	Assumes: "always",
	limit: func(k *evaluation, _ roundoff.Failure) (float64, error) {
		γ := roundoff.Gamma(2*k.K+1, tcore.Binary64.UnitRoundoff())
		return most(k.product.Elementwise()) * (1 + γ), nil
	},
}

// worstCase is the deterministic bound, about 2u|A||B|.
var worstCase = Bound{
	Name:    "worst-case",
	Source:  "Higham 2002, Theorem 2.2",
	Formula: "(v + w + vw)|A|'|B|', v and w = u to nearest, 2u with random bits",
	Needs:   MatrixA | MatrixB,
	Assumes: "no element is clipped",
	limit: func(k *evaluation, _ roundoff.Failure) (float64, error) {
		if err := k.clips(); err != nil {
			return 0, err
		}
		γ := roundoff.Gamma(k.K+1, tcore.Binary64.UnitRoundoff())
		return composed(k.a.most, k.b.most) * most(sumOfProducts(k.a.size, k.b.size)) * (1 + γ), nil
	},
}

// composed returns the relative error of a product of factors with relative
// errors v and w.
func composed(v, w float64) float64 { return v + w + float64(v*w) }

// clips returns an error that names an element whose rounding is no relative
// error, nil if there is none.
func (k *evaluation) clips() error {
	for _, z := range []*rounded{k.a, k.b} {
		if z.clipped != "" {
			return errors.New(z.clipped)
		}
	}
	return nil
}

// hoeffding takes |A|'² |B|'².
var hoeffding = Bound{
	Name:    "hoeffding",
	Source:  "Hoeffding 1963, Theorem 2; Azuma 1967",
	Formula: "λ(2w + w²)√S, S = Σ|a|'²|b|'², λ = √(2 log(2MN/ζ))",
	Needs:   MatrixA | MatrixB,
	Assumes: "random bits are ideal and independent, and no element is clipped",
	Random:  true,
	Fails:   toNearest,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return k.hoeffding(Squares(k.a.size, k.b.size, 0), f)
	},
}

// hoeffdingByNorms is cheaper, for products whose factors alone are measured.
var hoeffdingByNorms = Bound{
	Name:    "hoeffding-norms",
	Source:  "Hoeffding 1963, Theorem 2; Azuma 1967; Hölder's inequality",
	Formula: "λ(2w + w²)√S, S from norms of rows of |A|' and columns of |B|'",
	Needs:   MatrixA | MatrixB,
	Assumes: hoeffding.Assumes,
	Random:  true,
	Fails:   toNearest,
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return k.hoeffding(SquaresByNorms(k.a.size, k.b.size, 0), f)
	},
}

// toNearest returns why Hoeffding's inequality is no bound: unless both factors
// have random bits.
func toNearest(p Problem) string {
	if p.RoundA.random().Bits > 0 && p.RoundB.random().Bits > 0 {
		return ""
	}
	return "a model: that errors of rounding to nearest have mean zero, each given those before it"
}

// hoeffding returns the largest of Hoeffding's bounds, and what the means of
// random bits add.
func (k *evaluation) hoeffding(S blas64.General, f roundoff.Failure) (float64, error) {
	if err := k.clips(); err != nil {
		return 0, err
	}
	each := f.Split(float64(k.M) * float64(k.N))
	t := matrix.Map64(func(s float64) float64 { return Hoeffding(max(k.a.most, k.b.most), s, each) }, S)
	if toNearest(k.Problem) != "" {
		return most(t), nil
	}
	return k.biased(t)
}

// randomSigns is √V, with the quantile of sums of random signs.
var randomSigns = Bound{
	Name:    "random-signs",
	Source:  "derived here",
	Formula: "λ√V, V = Σ(da²b² + a²db²), λ = √(2 log(2MN/ζ))",
	Needs:   MatrixA | MatrixB,
	Assumes: "errors of elements have random signs",
	Random:  true,
	Fails: func(Problem) string {
		return "a prediction: that errors of elements have random signs, to first order"
	},
	limit: func(k *evaluation, f roundoff.Failure) (float64, error) {
		return roundoff.Azuma(most(k.product.Variance()), f.Split(float64(k.M)*float64(k.N))), nil
	},
}
