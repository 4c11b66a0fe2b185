package bound

import (
	"encoding/json"
	"math"

	"github.com/roundofflab/roundoff/pkg/roundoff"
)

// MarshalJSON writes the keys bound, constant, lambda, confidence, holds, why and source. A
// constant or λ that there is not, or that has no limit, is null. A confidence is a number, 1
// where the bound always holds, or the text that [roundoff.ParseConfidence] reads where it is
// nearer to 1 than float64 can say.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Bound      string   `json:"bound"`
		Constant   *float64 `json:"constant"`
		Lambda     *float64 `json:"lambda"`
		Confidence any      `json:"confidence"`
		Holds      bool     `json:"holds"`
		Why        string   `json:"why"`
		Source     string   `json:"source"`
	}{r.Bound, finite(r.Constant), finite(r.Lambda), confidence(r.Confidence), r.Holds, r.Why, r.Source})
}

// finite returns x, or nil if it is none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// confidence returns f as it is written.
func confidence(f roundoff.Failure) any {
	p, _ := f.Confidence()
	if p == 1 && f != roundoff.Never {
		return f.String()
	}
	const digits = 1e15 // of which a decimal keeps its value
	return math.Round(p*digits) / digits
}
