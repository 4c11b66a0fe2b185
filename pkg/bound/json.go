package bound

import (
	"encoding/json"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MarshalJSON writes the keys bound, constant, absolute, underflow, lambda,
// confidence, holds, why and source. A number that is NaN or infinite becomes
// null. A confidence is a number, 1 if the bound always holds. If it is closer
// to 1 than float64 can represent, it is the text that
// [roundoff.ParseConfidence] reads.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Bound      string   `json:"bound"`
		Constant   *float64 `json:"constant"`
		Absolute   *float64 `json:"absolute"`
		Underflow  *float64 `json:"underflow"`
		Lambda     *float64 `json:"lambda"`
		Confidence any      `json:"confidence"`
		Holds      bool     `json:"holds"`
		Why        string   `json:"why"`
		Source     string   `json:"source"`
	}{r.Bound, finite(r.Constant), finite(r.Absolute), finite(r.Underflow), finite(r.Lambda), confidence(r.Confidence), r.Holds, r.Why, r.Source})
}

// MarshalJSON writes the keys device, a, b, recipe, accumulate, meets, excess,
// least_k, largest_k, promote, split_k, other_recipe, bound, constant, parts,
// absolute, underflow, confidence, why, bytes, bytes_ratio, gpu, tflops,
// time_ratio and source. The last four refer to the peak. The parts are
// conversion, drift, accumulation, merging and storing. A value that is unknown
// or infinite becomes null.
func (a Advice) MarshalJSON() ([]byte, error) {
	out := struct {
		Device     string   `json:"device"`
		A          string   `json:"a"`
		B          string   `json:"b"`
		Recipe     *string  `json:"recipe"`
		Accumulate string   `json:"accumulate"`
		Meets      bool     `json:"meets"`
		Excess     *float64 `json:"excess"`
		LeastK     int      `json:"least_k"`
		LargestK   int      `json:"largest_k"`
		Bound      *string  `json:"bound"`
		Constant   *float64 `json:"constant"`
		Parts      *Parts   `json:"parts"`
		Promote    int      `json:"promote"`
		SplitK     int      `json:"split_k"`
		Other      *string  `json:"other_recipe"`
		Absolute   *float64 `json:"absolute"`
		Underflow  *float64 `json:"underflow"`
		Confidence any      `json:"confidence"`
		Why        string   `json:"why"`
		Bytes      float64  `json:"bytes"`
		BytesRatio *float64 `json:"bytes_ratio"`
		GPU        *string  `json:"gpu"`
		Tflops     *float64 `json:"tflops"`
		TimeRatio  *float64 `json:"time_ratio"`
		Source     *string  `json:"source"`
	}{
		Device: a.Device.Name, A: a.Device.A.Name, B: a.Device.B.Name, Accumulate: a.Device.C.Name,
		Meets: a.Meets(), Excess: finite(a.Excess), Underflow: finite(a.Tightest.Underflow), LeastK: a.LeastK, LargestK: a.LargestK, Promote: a.Promote, SplitK: a.SplitK,
		Constant: finite(a.Tightest.Constant), Absolute: finite(a.Tightest.Absolute), Why: a.Tightest.Why,
		Bytes: a.Bytes, BytesRatio: finite(a.BytesRatio), TimeRatio: finite(a.TimeRatio),
	}
	if p := a.Tightest.Parts; finite(p.Sum()) != nil {
		out.Parts = &p
	}
	out.Recipe, out.Other = a.Recipes.name(), a.Other.name()
	if a.Tightest.Holds {
		out.Bound, out.Confidence = &a.Tightest.Bound, confidence(a.Tightest.Confidence)
	}
	if a.Peak.Tflops > 0 {
		out.GPU, out.Tflops, out.Source = &a.Peak.GPU, &a.Peak.Tflops, &a.Peak.Source
	}
	return json.Marshal(out)
}

// name returns a pointer to the names of the recipes, or nil if there are none.
func (r *Recipes) name() *string {
	if r == nil {
		return nil
	}
	name := r.String()
	return &name
}

// finite returns a pointer to x, or nil if x is NaN or infinite.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// confidence returns the confidence 1 - e^f as JSON contains it.
func confidence(f roundoff.Failure) any {
	p, _ := f.Confidence()
	if p == 1 && f != roundoff.Never {
		return f.String()
	}
	const digits = 1e15 // a decimal number of 15 digits survives conversion to float64
	return math.Round(p*digits) / digits
}
