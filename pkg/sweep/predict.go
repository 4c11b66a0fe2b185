package sweep

import (
	"context"
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/bound"
)

// none is the Prediction without values.
var none = Prediction{math.NaN(), math.NaN(), math.NaN()}

// predict writes the predictions into the rows of errors, the first row of each
// machine, distribution and K.
func (p Plan) predict(units []unit, cells map[[3]int]*joined) {
	parallel.Each(len(units)*len(p.Data), func(n int) {
		i, l := n/len(p.Data), n%len(p.Data)
		data := p.Data[l]
		for h, predicted := range predictions(p.problem(units[i], data, p.Ks[0]), data, p.Ks) {
			cells[[3]int{i, l, h}].rows[0].Predicted = predicted
		}
	})
}

// predictionsOf returns the predictions for distribution l, for every machine
// and K. If ctx ends it returns the error of ctx at once.
func (p Plan) predictionsOf(ctx context.Context, l int) ([][]Prediction, error) {
	units, err := p.units()
	if err != nil {
		return nil, err
	}
	all, done := make([][]Prediction, len(units)), make(chan struct{})
	go func() {
		defer close(done)
		parallel.Each(len(units), func(i int) {
			if ctx.Err() == nil {
				all[i] = predictions(p.problem(units[i], p.Data[l], p.Ks[0]), p.Data[l], p.Ks)
			}
		})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return all, ctx.Err()
}

// predictions returns what [bound.Predict] predicts of the errors of a problem
// with data of a distribution, for every K. There is no prediction if X and Y
// are unknown or wrong.
func predictions(k bound.Problem, data Generator, ks []int) []Prediction {
	all := make([]Prediction, len(ks))
	for i := range all {
		all[i] = none
	}
	if !data.X.CanDraw() || !data.Y.CanDraw() || data.Misled {
		return all
	}
	if k.Recipes != nil {
		return all // no part of them is predicted here
	}
	known, err := bound.PredictLengths(k, ks)
	if err != nil {
		return all // there is no prediction for this machine or these data
	}
	for i, p := range known {
		all[i].Mean, all[i].Slope = p.Backward, p.Slope
		switch {
		case oneSign(data.X) && oneSign(data.Y): // |A||B| is the exact result, up to its sign
			all[i].Spread = p.Deviation
		case data.X.Mean()*data.Y.Mean() == 0: // |A||B| and the error do not vary together
			all[i].Spread = p.BackwardDeviation
		}
	}
	return all
}

// oneSign reports whether all samples of a distribution have the same sign.
func oneSign(d bound.Distribution) bool { return d.MeanAbs() == math.Abs(d.Mean()) }
