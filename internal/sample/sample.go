// Package sample tells the middle and the size of samples.
package sample

import (
	"math"
	"slices"
)

// Median returns the median of x, which must not be empty.
func Median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// RMS returns the root mean square of x, which must not be empty.
func RMS(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}
