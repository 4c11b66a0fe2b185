package truncation_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/truncation"
)

// A sum of thousands is in a format with units of 4, and products of 1 and 3
// are added to it: 1 is lost, 3 becomes 4. The errors cancel in the mean. With
// products of 1 alone the sum stops growing.
func ExampleIncrements() {
	var both, ones truncation.Increments
	for range 2 { // two batches, from which the uncertainty of the mean is estimated
		both.Add([]float64{1, 3}, []float64{1}, nil)
		ones.Add([]float64{1}, []float64{1}, nil)
	}
	fmt.Println(both.Nearest(4).Mean, ones.Nearest(4).Mean)
	// Output:
	// 0 -1
}

// If -x is as likely as x, the mean error is 0, even for a sample that contains
// x alone.
func ExampleIncrements_Symmetric() {
	var z truncation.Increments
	z.Symmetric()
	z.Add([]float64{0.25}, []float64{1}, nil)
	z.Add([]float64{0.25}, []float64{1}, nil)
	fmt.Println(z.Nearest(1).Mean, z.Nearest(1).Square)
	// Output:
	// 0 0.0625
}

// If half of the products are 0, the mean error of the others is twice the mean
// error of all.
func ExampleIncrements_Nonzero() {
	var z truncation.Increments
	z.Add([]float64{0, 1}, []float64{1}, nil)
	z.Add([]float64{0, 1}, []float64{1}, nil)
	fmt.Println(z.Nearest(4).Mean, z.Nearest(4).Mean/z.Nonzero())
	// Output:
	// -0.5 -1
}
