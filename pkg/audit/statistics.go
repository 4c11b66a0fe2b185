package audit

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// Statistics are properties of weights that make them hard to quantise.
type Statistics struct {
	Greatest float64 // max |b| over the standard deviation, 0 for equal numbers
	Kurtosis float64 // E (b - E b)⁴ over the squared variance, 3 for normal numbers; 0 for equal ones
	Dead     int     // columns whose greatest |b| is below 2⁻²⁰ of that of all
}

// StatisticsOf returns the statistics of the elements of b.
func StatisticsOf(b blas32.General) Statistics {
	var sum, squares, fourths, greatest float64
	of := make([]float64, b.Cols)
	for i := range b.Rows {
		for j, x := range matrix.Row(b, i) {
			sum += float64(x)
			of[j] = max(of[j], math.Abs(float64(x)))
			greatest = max(greatest, of[j])
		}
	}
	n := float64(b.Rows) * float64(b.Cols)
	for i := range b.Rows {
		for _, x := range matrix.Row(b, i) {
			d := float64(x) - sum/n
			squares += d * d
			fourths += d * d * d * d
		}
	}
	var s Statistics
	for _, x := range of {
		if x < 0x1p-20*greatest {
			s.Dead++
		}
	}
	if variance := squares / n; variance > 0 {
		s.Greatest, s.Kurtosis = greatest/math.Sqrt(variance), fourths/n/(variance*variance)
	}
	return s
}
