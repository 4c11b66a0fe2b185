package tcore_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// CDNA3 cuts 2^-25 off the third product, since the greatest product is 1. The
// sum of the second block, 1 + 2^-24, is rounded to 1: the tie goes to the even
// number.
func ExampleDevice_StageSums() {
	x := []float64{1, 0, 0x1p-12, 0, 0, 0, 0, 0, 0x1p-12}
	y := []float64{1, 0, 0x1p-13, 0, 0, 0, 0, 0, 0x1p-12}
	for _, s := range devices.CDNA3BF16().StageSums(x, y) {
		p := s.Parts[0]
		fmt.Printf("E = %d  lost %v of %v to %v  e = %d  moved %v  result %v  error %v\n",
			p.Exponent, p.Lost, p.Least, p.Most, s.Exponent, s.Moved, s.Result, s.Error())
	}
	// Output:
	// E = 0  lost 2.9802322387695312e-08 of 0 to 5.960282578598708e-08  e = 0  moved 0  result 1  error -2.9802322387695312e-08
	// E = -24  lost 0 of 0 to 0  e = 0  moved -5.960464477539063e-08  result 1  error -5.960464477539063e-08
}

// CDNA1 rounds once for four products. CDNA2 rounds at every node of a tree of
// four products, and when it adds their sum to c. It replaces the last product
// by 0, since a factor is subnormal.
func ExampleDevice_RoundedSums() {
	x, y := []float64{1, 1, 1, 1, 1, 0x1p-24}, []float64{1, 1, 1, 1, 1, 1}
	fmt.Println(devices.CDNA1F16().RoundedSums(x, y))
	fmt.Println(devices.CDNA2F16().RoundedSums(x, y))
	// Output:
	// {[4 5] 0}
	// {[2 2 4 5] 5.960464477539063e-08}
}
