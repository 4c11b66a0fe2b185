package bound

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// Predict returns a prediction of the error of one output of the problem,
// before anything is computed: its mean, its slope on the sum, and its standard
// deviation. It emulates single steps of a sum on the machine, some 30 000 for
// each of many intervals of the running sum, and [truncation.RunningSum]
// combines their errors. The exact result is the sum of the products of the
// numbers that the machine multiplies, that is, of A and B after conversion.
//
// It assumes that the elements of A and B are independent, that they are
// symmetric where their mean is 0, and that the last bits of a running sum are
// uniform. Sums that are nearly exact, such as those of few-bit products in
// binary32, have smaller errors than it predicts. Errors of rounding to nearest
// have a small mean, because products below half a unit in the last place are
// lost and those of few bits are not spread evenly over a unit.
// [truncation.Increments] computes that mean, to about 2·10⁻⁵ units in the last
// place for each product.
//
// Where K is cut into parts, by promotion, split K or a plan, the parts have
// independent errors, and their additions in binary32 are the steps of one more
// running sum. Of a plan with folds, each sum of a fold is such a running sum.
//
// The returned error says why there is no prediction. Predict panics if the
// sizes or the machine of the problem are invalid.
//
// Source: derived here.
func Predict(k Problem) (truncation.Prediction, error) {
	p, err := PredictLengths(k, []int{k.K})
	if err != nil {
		return truncation.Prediction{}, err
	}
	return p[0], nil
}

// PredictLengths returns, for each of the given lengths in place of K, what
// [Predict] returns. It costs little more than Predict for the longest. It
// panics as Predict does, or if lengths is empty.
func PredictLengths(k Problem, lengths []int) ([]truncation.Prediction, error) {
	if len(lengths) == 0 {
		panic("bound: 0 lengths, want at least 1")
	}
	for _, k.K = range lengths {
		k.check()
	}
	whole := k
	k.K, whole.K = 0, slices.Max(lengths)
	for _, of := range lengths {
		part := whole
		part.K = of
		k.K = max(k.K, part.Length())
	}
	if why := whole.unpredictable(); why != "" {
		return nil, k.noPrediction(why)
	}
	for _, d := range []Distribution{k.X, k.Y} {
		if err := d.Check(); err != nil {
			return nil, err
		}
	}
	r, err := k.response()
	if err != nil {
		return nil, err
	}
	chain := truncation.RunningSum{Terms: k.Width(), Products: k.ProductMoments(), Step: r.mean}
	predictions := make([]truncation.Prediction, len(lengths))
	for i, K := range lengths {
		whole.K = K
		e, err := whole.errorOfParts(chain)
		if err != nil {
			return nil, err
		}
		predictions[i] = e.Prediction(chain.Products, K)
	}
	return predictions, nil
}

// unpredictable returns why the error cannot be predicted, or "".
func (k Problem) unpredictable() string {
	switch {
	case k.planned != nil && k.predictable() != "":
		return k.predictable()
	case k.Device.ScaleBlock > 0 && k.blocks == nil:
		return "nothing is known of its scales"
	case k.Device.C.Precision > tcore.Binary32.Precision:
		return "its sums do not fit binary32"
	case k.parts() > 1 && k.Length() > longestPart:
		return fmt.Sprintf("its parts have %d products, more than %d", k.Length(), longestPart)
	case k.Order != tcore.InSequence:
		return fmt.Sprintf("its sums are %v", k.Order)
	case k.stochastic():
		return "its rounding is stochastic"
	case k.Recipes != nil:
		return "its factors are quantised, which PredictQuantised knows"
	case k.Represented:
		return "its factors are rounded before"
	case k.output().Precision < k.carried().Precision:
		return "its result is rounded to " + k.output().Name
	case !k.knows(Moments) || !k.X.CanDraw() || !k.Y.CanDraw():
		return "it takes numbers drawn from the distributions of A and B"
	}
	return ""
}

// ProductMoments returns the moments of one product xy of an element of A and
// one of B, which are independent and not yet converted: μ = E x E y, σ² = E
// x² E y² - μ² and E|xy| = E|x| E|y|, by which the closed forms of package
// truncation give the error of a sum. All are 0 if one distribution is not
// known.
func (k Problem) ProductMoments() truncation.ProductMoments {
	x, y := k.X.Moments(), k.Y.Moments()
	mean := x.Mean * y.Mean
	return truncation.ProductMoments{Mean: mean, Variance: max(0, x.MeanSquare*y.MeanSquare-mean*mean), Abs: x.MeanAbs * y.MeanAbs}
}
