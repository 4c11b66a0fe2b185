package exact

import (
	"math"

	"github.com/roundofflab/roundoff/internal/vector"
)

// vectorBits is the width of the vector instructions that the sums use: 512 or
// 256 bits, or 0 for pure Go.
var vectorBits = vector.Bits()

// kernelFor returns the kernel of integer sums; ok is false if there is none.
func kernelFor() (k kernel, ok bool) {
	switch vectorBits {
	case 256:
		return kernel{6, integerSums256}, true
	case 512:
		return kernel{12, integerSums512}, true
	}
	return k, false
}

// vectorIntegers stores x × scale or |x| × scale in dst for the leading
// elements x of src, and returns their number.
func vectorIntegers(dst []int32, src []float32, scale float32, abs bool) int {
	n := len(src) &^ 7
	if n == 0 || vectorBits == 0 {
		return 0
	}
	mask := ^uint32(0)
	if abs {
		mask >>= 1
	}
	integers(&dst[0], &src[0], n, scale, mask)
	return n
}

// vectorGrid returns the grid of the leading elements of x, and their number n.
// n is 0 if one of them is not finite.
func vectorGrid(x []float32) (g grid, n int) {
	n = len(x) &^ 7
	if n == 0 || vectorBits == 0 {
		return grid{}, 0
	}
	greatest, least := gridBits(&x[0], n)
	if greatest >= 0xff<<23 {
		return grid{}, 0
	}
	if greatest == 0 {
		return noGrid, n
	}
	// An element sig × 2^(e-150) whose last bit is 2^t has least = e + t + 127.
	return grid{int(least) - 127 - 150, float64(math.Float32frombits(greatest))}, n
}
