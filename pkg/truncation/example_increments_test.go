package truncation_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/truncation"
)

// A sum of thousands in a format with units of 4, to which products of 1 and 3
// are added: 1 is lost, 3 becomes 4. The errors add up to nothing. With
// products of 1 alone the sum stops growing.
func ExampleIncrements() {
	var both, ones truncation.Increments
	for range 2 { // batches, which tell how sure the mean is
		both.Add([]float64{1, 3}, []float64{1}, nil)
		ones.Add([]float64{1}, []float64{1}, nil)
	}
	fmt.Println(both.Nearest(4).Mean, ones.Nearest(4).Mean)
	// Output:
	// 0 -1
}

// Where -x is as likely as x, a sample that has x alone says nothing of the
// mean.
func ExampleIncrements_Symmetric() {
	var z truncation.Increments
	z.Symmetric()
	z.Add([]float64{0.25}, []float64{1}, nil)
	z.Add([]float64{0.25}, []float64{1}, nil)
	fmt.Println(z.Nearest(1).Mean, z.Nearest(1).Square)
	// Output:
	// 0 0.0625
}

// Of products half of which are 0 the others err by twice what a product does
// in the mean.
func ExampleIncrements_Nonzero() {
	var z truncation.Increments
	z.Add([]float64{0, 1}, []float64{1}, nil)
	z.Add([]float64{0, 1}, []float64{1}, nil)
	fmt.Println(z.Nearest(4).Mean, z.Nearest(4).Mean/z.Nonzero())
	// Output:
	// -0.5 -1
}
