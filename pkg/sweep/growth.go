package sweep

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Growth contains the exponents of K with which a bound and the errors grow
// over the Ks of a sweep, fitted by least squares to the logarithms.
type Growth struct {
	Machine, Data, Recipe, Bound string
	Confidence                   float64
	Constant                     float64 // of the bound's largest backward constant
	Error                        float64 // of the largest |error|/|A||B|; NaN if it is 0 or unknown for some K
}

// GrowthOf returns the growth of every bound in rows that have at least two Ks.
// It uses only the bounds that are given the distribution alone.
func GrowthOf(rows []Row) []Growth {
	type curve struct {
		machine, data, recipe, bound string
		confidence                   float64
	}
	var order []curve
	k, constant, largest := map[curve][]float64{}, map[curve][]float64{}, map[curve][]float64{}
	errors := map[[3]string]map[int]float64{}
	for _, r := range rows {
		if r.Bound == ErrorRow {
			at := [3]string{r.Machine, r.Data, r.Recipe}
			if errors[at] == nil {
				errors[at] = map[int]float64{}
			}
			errors[at][r.K] = r.Largest
		}
	}
	for _, r := range rows {
		if r.Bound == ErrorRow || r.Told != FromDistribution || r.Ranges {
			continue
		}
		at := curve{r.Machine, r.Data, r.Recipe, r.Bound, r.Confidence}
		if k[at] == nil {
			order = append(order, at)
		}
		k[at] = append(k[at], math.Log(float64(r.K)))
		constant[at] = append(constant[at], math.Log(r.Constant))
		largest[at] = append(largest[at], math.Log(errors[[3]string{r.Machine, r.Data, r.Recipe}][r.K]))
	}
	var all []Growth
	for _, at := range order {
		if len(k[at]) > 1 {
			all = append(all, Growth{at.machine, at.data, at.recipe, at.bound, at.confidence, slope(k[at], constant[at]), slope(k[at], largest[at])})
		}
	}
	return all
}

// slope returns the slope of the least-squares line through the points, NaN if
// some y is infinite.
func slope(x, y []float64) float64 {
	for _, v := range y {
		if math.IsInf(v, 0) {
			return math.NaN()
		}
	}
	_, b := stat.LinearRegression(x, y, nil, false)
	return b
}
