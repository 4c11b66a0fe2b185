package bound

import "math"

// Parts are the parts of the constant β of an output, in the order in which the
// errors are made. Their sum is β.
type Parts struct {
	Conversion   float64 `json:"conversion"`   // A and B are rounded to the formats of the device
	Drift        float64 `json:"drift"`        // what the sums of each part of K lose in the mean, as bits are cut off
	Accumulation float64 `json:"accumulation"` // the rest of the errors of these sums; all of them where Drift is 0
	Merging      float64 `json:"merging"`      // the parts of K are added, in binary32
	Storing      float64 `json:"storing"`      // the sum is rounded to the format of D
}

// Sum returns β.
func (p Parts) Sum() float64 {
	return p.Drift + p.Accumulation + p.Merging + p.Storing + p.Conversion
}

// Largest returns the name of the largest part and its share of β; "" and NaN
// if β is not a positive number.
func (p Parts) Largest() (name string, share float64) {
	β := p.Sum()
	if !(β > 0) || math.IsInf(β, 1) {
		return "", nan
	}
	most := -1.0
	for _, part := range []struct {
		name string
		of   float64
	}{{"conversion", p.Conversion}, {"drift", p.Drift}, {"accumulation", p.Accumulation}, {"merging", p.Merging}, {"storing", p.Storing}} {
		if part.of > most {
			name, most = part.name, part.of
		}
	}
	return name, most / β
}

// drifting returns the parts with Drift taken out of Accumulation, in the
// proportion that it has in the bound v of each chain. Bounds from the
// distribution of the data tell it apart, on devices that align all products of
// a step; of others Drift is 0, as it is where errors have no mean.
func (p Parts) drifting(v Value) Parts {
	if v.Drift > 0 && !math.IsInf(v.Constant, 1) {
		p.Drift = p.Accumulation * (v.Drift / v.Constant)
		p.Accumulation -= p.Drift
	}
	return p
}
