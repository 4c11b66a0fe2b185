package tcore

import "gonum.org/v1/gonum/blas/blas32"

// multiply stores AB in d.
func (t TensorCore) multiply(a, b, d blas32.General) {
	t.Device(t.Name).MultiplyAdd(a, b, blas32.General{}, d)
}

// slowDot computes Algorithm 1 step by step, from line 1.
func (t TensorCore) slowDot(x, y []float32) float32 {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	t.represent(lx, x)
	t.represent(ly, y)
	return float32(t.dot(lx, ly))
}
