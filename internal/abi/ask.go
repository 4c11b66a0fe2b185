package abi

import (
	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/bound"
)

// operands returns the matrices of a question, nil if there are none.
func operands(a, b *Matrix) (*question.Operands, error) {
	if a == nil && b == nil {
		return nil, nil
	}
	if err := fit(a, b); err != nil {
		return nil, err
	}
	x, err := a.numbers("a")
	if err != nil {
		return nil, err
	}
	y, err := b.numbers("b")
	return &question.Operands{NameA: "a", NameB: "b", A: x, B: y}, err
}

// Bound answers with every bound on the error of a product: the JSON of
// roundoff bound. a and b may both be nil.
func Bound(text string, a, b *Matrix) (string, error) {
	q := question.NewBound()
	err := read(text, &q)
	if err == nil {
		q.Operands, err = operands(a, b)
	}
	if err != nil {
		return "", err
	}
	results, _, err := q.Results()
	if err != nil {
		return "", err
	}
	return write(results)
}

// Advise answers with what every device makes of a tolerance: the JSON of
// roundoff advise. a and b may both be nil.
func Advise(text string, a, b *Matrix) (string, error) {
	q := question.NewAdvice()
	err := read(text, &q)
	if err == nil {
		q.Operands, err = operands(a, b)
	}
	if err != nil {
		return "", err
	}
	advice, _, err := q.Results()
	if err != nil {
		return "", err
	}
	return write(advice)
}

// A predictedSum is what is expected of sums of one length. What does not apply
// is null: the first five are those of sums alone, the others those of
// quantised factors.
type predictedSum struct {
	K                 int      `json:"k"`
	Mean              *float64 `json:"mean"`
	Deviation         *float64 `json:"deviation"`
	Slope             *float64 `json:"slope"`
	Backward          *float64 `json:"backward"`
	BackwardDeviation *float64 `json:"backward_deviation"`
	Error             *float64 `json:"error"`
	Quantisation      *float64 `json:"quantisation"`
	QuantisationDrift *float64 `json:"quantisation_drift"`
	Sums              *float64 `json:"sums"`
	SumsDrift         *float64 `json:"sums_drift"`
	Storing           *float64 `json:"storing"`
}

// Predict answers with the errors to be expected of random data: the numbers of
// the table of roundoff predict. a and b may both be nil.
func Predict(text string, a, b *Matrix) (string, error) {
	q := question.NewPrediction()
	err := read(text, &q)
	if err == nil {
		q.Operands, err = operands(a, b)
	}
	if err != nil {
		return "", err
	}
	p, err := q.Results()
	if err != nil {
		return "", err
	}
	rows := []predictedSum{}
	known := question.Known
	zero := 0.0
	for i, k := range p.Ks {
		switch {
		case p.Sums != nil:
			e := p.Sums[i]
			rows = append(rows, predictedSum{K: k, Mean: known(e.Mean), Deviation: known(e.Deviation), Slope: known(e.Slope),
				Backward: known(e.Backward), BackwardDeviation: known(e.BackwardDeviation)})
		case p.Quantised != nil:
			rows = append(rows, quantised(k, p.Quantised[i]))
		default: // a device of integers, whose sums are exact
			rows = append(rows, predictedSum{K: k, Mean: &zero, Deviation: &zero, Slope: &zero, Backward: &zero, BackwardDeviation: &zero})
		}
	}
	return write(struct {
		Device string         `json:"device"`
		Rows   []predictedSum `json:"rows"`
	}{p.Problem.Device.Name, rows})
}

// quantised returns what is expected where factors are quantised.
func quantised(k int, e bound.TypicalError) predictedSum {
	known := question.Known
	return predictedSum{K: k, Error: known(e.RMS()), Quantisation: known(e.Quantisation.Deviation), QuantisationDrift: known(e.Quantisation.Drift),
		Sums: known(e.Accumulation.Deviation), SumsDrift: known(e.Accumulation.Drift), Storing: known(e.Storing)}
}
