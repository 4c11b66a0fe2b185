package question

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/pkg/bound"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
)

// An Advice asks which devices meet a tolerance, with the words and the
// defaults of the flags of roundoff advise.
type Advice struct {
	Tolerance   float64 `json:"tolerance"`
	M           int     `json:"m"`
	N           int     `json:"n"`
	K           int     `json:"k"`
	Device      string  `json:"device"`
	In          string  `json:"in"`
	Out         string  `json:"out"`
	SplitK      int     `json:"split_k"`
	Promote     int     `json:"promote"`
	Represented bool    `json:"represented"`
	Recipe      string  `json:"recipe"`
	Confidence  string  `json:"confidence"`
	Dist        string  `json:"dist"`
	Permute     *uint64 `json:"permute"` // a seed, nil to leave K in order

	Operands *Operands `json:"-"` // nil if no matrices are given
}

// NewAdvice returns the question of roundoff advise without a flag.
func NewAdvice() Advice {
	return Advice{M: 1, N: 1, K: 1024, SplitK: 1, Represented: true, Confidence: "0.99"}
}

// Check returns an error about the first argument that cannot be meant.
func (q *Advice) Check() error {
	switch {
	case !(q.Tolerance > 0) || math.IsInf(q.Tolerance, 1):
		return fmt.Errorf("-tolerance %v, want a number above 0", q.Tolerance)
	case q.Operands != nil && q.Dist != "":
		return fmt.Errorf("-dist %s goes without matrices", q.Dist)
	case q.Operands == nil && q.Permute != nil:
		return fmt.Errorf("-permute %d wants matrices", *q.Permute)
	}
	return CheckSizes(MostTerms, Size{"m", q.M}, Size{"n", q.N}, Size{"k", q.K}, Size{"split-k", q.SplitK})
}

// Results returns the advice on every device, and what tests of the matrices
// found, nil if none are given.
func (q *Advice) Results() ([]bound.Advice, *bound.Inspection, error) {
	if err := q.Check(); err != nil {
		return nil, nil, err
	}
	f, err := roundoff.ParseConfidence(q.Confidence)
	if err != nil {
		return nil, nil, err
	}
	k := bound.Problem{M: q.M, N: q.N, K: q.K, Represented: q.Represented}
	k.SplitK, k.Promote = q.SplitK, q.Promote
	found, err := q.describe(&k)
	if err != nil {
		return nil, nil, err
	}
	if q.Operands != nil {
		if q.Permute != nil {
			q.Operands.Permute(*q.Permute)
		}
		if err := q.Operands.Describe(&k); err != nil {
			return nil, nil, err
		}
	}
	for _, d := range found {
		if err := (tcore.Machine{Device: d, SplitK: q.SplitK, Promote: q.Promote}).Check(); err != nil {
			return nil, nil, err
		}
	}
	advice, err := bound.Advise(k, q.Tolerance, f, found)
	return advice, k.Data, err
}

// describe fills in the problem, and returns the devices asked for.
func (q *Advice) describe(k *bound.Problem) (found []tcore.Device, err error) {
	if q.Out != "" {
		if k.Output, err = FindFormat(q.Out); err != nil {
			return nil, err
		}
	}
	if q.Dist != "" {
		if k.X, k.Y, err = ParseDistributions(q.Dist); err != nil {
			return nil, err
		}
	}
	if q.Recipe != "" {
		left, right, err := OneOrTwo(q.Recipe, "recipes", FindRecipe)
		if err != nil {
			return nil, err
		}
		k.Recipes = &bound.Recipes{A: left, B: right}
	}
	return FindDevices(q.Device, q.In)
}
