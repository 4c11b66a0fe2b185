// Package sample computes the median and the root mean square of samples.
package sample

import (
	"math"
	"slices"
)

// Median returns the median of x. It panics if x is empty.
func Median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// RMS returns the root mean square of x, NaN if x is empty.
func RMS(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}
