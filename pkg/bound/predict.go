package bound

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// Predict returns what the error of one output of the problem will be like,
// before anything is computed: the machine is asked for single steps of a sum
// alone, some ten thousand from running sums of every size, and
// [truncation.RunningSum] puts them together. The error is that of the sum of
// the numbers that the machine multiplies, after A and B were converted.
//
// It takes for granted that the elements of A and B are independent, symmetric
// where their mean is 0, and that the last bits of a running sum are uniform;
// sums that are all but exact, as those of few-bit products in binary32, err
// less than it says. Rounding to nearest has a small mean, as products below
// half a unit are lost and those of few bits do not spread evenly over a unit:
// it is that of [truncation.Increments], to about 2·10⁻⁵ of a unit for each
// product.
//
// The error says why there is no prediction. It panics if there is no such
// product.
//
// Source: derived here.
func Predict(k Problem) (truncation.Prediction, error) {
	p, err := PredictLengths(k, []int{k.K})
	if err != nil {
		return truncation.Prediction{}, err
	}
	return p[0], nil
}

// PredictLengths returns what [Predict] returns of problems that have the given
// lengths in place of K, for little more than the cost of the longest. It
// panics as Predict does, or if there is no length.
func PredictLengths(k Problem, lengths []int) ([]truncation.Prediction, error) {
	if len(lengths) == 0 {
		panic("bound: 0 lengths, want at least 1")
	}
	for _, k.K = range lengths {
		k.check()
	}
	k.K = slices.Max(lengths)
	if why := k.unpredictable(); why != "" {
		return nil, fmt.Errorf("bound: no prediction for %s: %s", k.Device.Name, why)
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
	sum := truncation.RunningSum{Terms: k.Width(), Products: k.productMoments(), Step: r.mean}
	predictions := make([]truncation.Prediction, len(lengths))
	for i, K := range lengths {
		predictions[i] = sum.Error(K).Prediction(sum.Products, K)
	}
	return predictions, nil
}

// unpredictable returns why the error cannot be predicted, or "".
func (k Problem) unpredictable() string {
	switch {
	case k.Device.ScaleBlock > 0:
		return "nothing is known of its scales"
	case k.Device.C.Precision > tcore.Binary32.Precision:
		return "its sums do not fit binary32"
	case k.parts() > 1:
		return fmt.Sprintf("K is split into %d parts", k.parts())
	case k.Order != tcore.InSequence:
		return fmt.Sprintf("its sums are %v", k.Order)
	case k.stochastic():
		return "its rounding is stochastic"
	case k.Represented:
		return "its factors are rounded before"
	case k.output().Precision < k.Device.C.Precision:
		return "its result is rounded to " + k.output().Name
	case !k.knows(Moments) || !k.X.CanDraw() || !k.Y.CanDraw():
		return "it takes numbers drawn from the distributions of A and B"
	}
	return ""
}

// productMoments returns the moments of a product of elements of A and B.
func (k Problem) productMoments() truncation.ProductMoments {
	x, y := k.X.Moments(), k.Y.Moments()
	mean := x.Mean * y.Mean
	return truncation.ProductMoments{Mean: mean, Variance: max(0, x.MeanSquare*y.MeanSquare-mean*mean), Abs: x.MeanAbs * y.MeanAbs}
}
