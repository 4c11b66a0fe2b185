package question

import (
	"fmt"
	"slices"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/library"
	"github.com/roundofflab/roundoff/pkg/truncation"
)

// A Prediction asks for the error to be expected of sums of random products,
// with the words and the defaults of the flags of roundoff predict.
type Prediction struct {
	Device  string `json:"device"`
	In      string `json:"in"`
	Acc     string `json:"acc"`
	Out     string `json:"out"`
	Ks      []int  `json:"k"`
	Dist    string `json:"dist"`
	Recipe  string `json:"recipe"`
	M       int    `json:"m"`
	N       int    `json:"n"`
	SplitK  int    `json:"split_k"`
	Promote int    `json:"promote"`
	Plan    string `json:"plan"` // as FindPlan reads it, in place of Device, SplitK, Promote and Out; "" for none

	Operands *Operands `json:"-"` // nil if no matrices are given
}

// NewPrediction returns the question of roundoff predict without a flag.
func NewPrediction() Prediction {
	return Prediction{Device: "hopper", In: "binary16", Acc: "binary32", Out: "binary32", Ks: []int{256, 4096, 32768}, Dist: "U(0,1)",
		M: 1024, N: 1024, SplitK: 1}
}

// Predicted is what is expected for sums of the lengths Ks on the machine of
// Problem: of Sums, or of Quantised factors if there is a recipe. Neither is
// there for a device of integers, whose sums are exact.
type Predicted struct {
	Problem   bound.Problem
	Ks        []int
	Sums      []truncation.Prediction
	Quantised []bound.TypicalError
}

// Check returns an error about the first size that cannot be meant.
func (q *Prediction) Check() error {
	sizes := []Size{{"split-k", q.SplitK}, {"m", q.M}, {"n", q.N}}
	for _, n := range q.Ks {
		sizes = append(sizes, Size{"k", n})
	}
	if len(q.Ks) == 0 {
		return fmt.Errorf("-k %v names no length", q.Ks)
	}
	if q.Plan != "" && (q.Recipe != "" || q.SplitK != 1 || q.Promote != 0) {
		return fmt.Errorf("-plan goes without -recipe, -split-k and -promote")
	}
	if q.Operands != nil && q.Recipe == "" {
		return fmt.Errorf("matrices go with -recipe alone: of sums it is predicted what random data lose")
	}
	return CheckSizes(bound.LongestK, sizes...)
}

// Results returns the prediction.
func (q *Prediction) Results() (p Predicted, err error) {
	if err := q.Check(); err != nil {
		return p, err
	}
	if q.Plan != "" {
		return q.planned()
	}
	k := bound.Problem{M: 1, N: 1}
	k.SplitK, k.Promote = q.SplitK, q.Promote
	if q.Recipe != "" {
		k.M, k.N = q.M, q.N
		err = q.quantised(&k)
	} else {
		k.Device, err = FindDevice(q.Device, q.In, q.Acc)
	}
	p = Predicted{Problem: k, Ks: q.Ks}
	switch {
	case err != nil:
		return p, err
	case SumsIntegers(k.Device):
		if n := slices.Max(q.Ks); n > bound.LongestIntegerSum(k.Device) || k.SplitK > 1 || k.Promote > 0 {
			err = fmt.Errorf("-k %d -split-k %d -promote %d: %s", n, k.SplitK, k.Promote, Exactly(k.Device))
		}
		return p, err
	case k.Device.C.Name != q.Acc:
		return p, fmt.Errorf("no device %q that accumulates in %s, see roundoff devices", q.Device, q.Acc)
	}
	if err := k.Check(); err != nil {
		return p, err
	}
	if o := q.Operands; o != nil {
		k.M, k.N, k.Given, p.Ks = o.A.Rows, o.B.Cols, &bound.Given{A: o.A, B: o.B}, []int{o.A.Cols}
	} else if k.X, k.Y, err = ParseDistributions(q.Dist); err != nil {
		return p, err
	}
	p.Problem = k
	if q.Recipe == "" {
		if err := Overflows(k.Device, k.X, k.Y); err != nil {
			return p, err
		}
		p.Sums, err = bound.PredictLengths(k, p.Ks)
		return p, err
	}
	for _, k.K = range p.Ks {
		e, err := bound.PredictQuantised(k)
		if err != nil {
			return p, err
		}
		p.Quantised = append(p.Quantised, e)
	}
	return p, nil
}

// planned returns the prediction for a plan, which may be another for each
// length. The problem is that of the last.
func (q *Prediction) planned() (p Predicted, err error) {
	kind, err := FindKind(q.In)
	if err != nil {
		return p, err
	}
	for _, n := range q.Ks {
		z, err := FindPlan(q.Plan, PlannedProduct{Shape: library.Shape{M: q.M, N: q.N, K: n}, Kind: kind})
		if err != nil {
			return p, fmt.Errorf("-plan %q: %w", q.Plan, err)
		}
		z.Output = z.Device().C // the prediction is one of sums
		k, err := bound.Problem{M: 1, N: 1, K: n}.Planned(z.Plan)
		if err != nil {
			return p, err
		}
		if k.X, k.Y, err = ParseDistributions(q.Dist); err != nil {
			return p, err
		}
		if err := Overflows(k.Device, k.X, k.Y); err != nil {
			return p, err
		}
		sum, err := bound.Predict(k)
		if err != nil {
			return p, err
		}
		p.Problem, p.Ks, p.Sums = k, append(p.Ks, n), append(p.Sums, sum)
	}
	return p, nil
}

// quantised sets the recipes, the device that takes what they make, and the
// format of D.
func (q *Prediction) quantised(k *bound.Problem) error {
	left, right, err := OneOrTwo(q.Recipe, "recipes", FindRecipe)
	if err != nil {
		return err
	}
	k.Represented, k.Recipes = true, &bound.Recipes{A: left, B: right}
	if k.Device, _, err = DeviceFor(q.Device, q.Acc, left, right); err != nil {
		return err
	}
	k.Output, err = FindFormat(q.Out)
	return err
}
