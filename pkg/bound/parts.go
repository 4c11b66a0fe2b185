package bound

import "math"

// Parts are the parts of the constant β of an output, in the order in which the
// errors are made. Their sum is β.
type Parts struct {
	Conversion   float64 `json:"conversion"`   // A and B are rounded to the formats of the device
	Accumulation float64 `json:"accumulation"` // the device adds the products of each part of K
	Merging      float64 `json:"merging"`      // the parts of K are added, in binary32
	Storing      float64 `json:"storing"`      // the sum is rounded to the format of D
}

// Sum returns β.
func (p Parts) Sum() float64 { return p.Accumulation + p.Merging + p.Storing + p.Conversion }

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
	}{{"conversion", p.Conversion}, {"accumulation", p.Accumulation}, {"merging", p.Merging}, {"storing", p.Storing}} {
		if part.of > most {
			name, most = part.name, part.of
		}
	}
	return name, most / β
}
