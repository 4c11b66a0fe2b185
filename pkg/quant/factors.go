package quant

import "gonum.org/v1/gonum/blas/blas32"

// Factors returns what a product of a and b sees of them: the numbers that the
// codes and scales stand for. It returns an error as [Recipe.Quantise] does.
func (r Recipe) Factors(a, b blas32.General) (x, y blas32.General, err error) {
	left, err := r.Quantise(a, Left)
	if err != nil {
		return x, y, err
	}
	right, err := r.Quantise(b, Right)
	if err != nil {
		return x, y, err
	}
	return left.Dequantise(), right.Dequantise(), nil
}
