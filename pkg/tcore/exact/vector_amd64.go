package exact

import (
	"math"

	"github.com/roundofflab/roundoff/internal/vector"
)

// vectorBits is the width of the vector instructions that the sums use: 512 or
// 256 bits, or 0 for pure Go.
var vectorBits = vector.Bits()

// vectorDigits is the width of the vector instructions that add products of
// digits: 512 bits with AVX512-VNNI, 256 with AVX2, or 0 for none.
var vectorDigits = func() int {
	if f := vector.Detect(); !f.VNNI {
		return min(f.Bits, 256)
	}
	return 512
}()

// kernelFor returns the kernel of integer sums.
func kernelFor() kernel {
	if vectorBits == 256 {
		return kernel{6, integerSums256}
	}
	return kernel{12, integerSums512}
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

// digitSums adds weight times the products of the leading rows of a tile, at
// least, and of one or two panels, stride words apart, over quads of terms.
func digitSums(c []int64, x, y []int16, rows, panels, stride, quads int, weight int64) {
	switch {
	case vectorDigits == 256:
		const step = 6 // rows
		for p := range panels {
			for r := 0; r < rows; r += step {
				digitSums256_6x8(&c[p*digitTile+r*columnsOfPanel], &x[r*digitStride], 2*digitStride, &y[p*stride], 2*stride, quads, weight)
			}
		}
	case panels == 1:
		digitSums512_12x8(&c[0], &x[0], 2*digitStride, &y[0], 2*stride, quads, weight)
	default:
		digitSums512_12x16(&c[0], &x[0], 2*digitStride, &y[0], 2*stride, quads, weight)
	}
}

// rowDigits stores the digits of src, whose length is a multiple of 16, those
// of a place stride words after those of the one before.
func rowDigits(dst []int16, stride int, src []float32, d digits) {
	if vectorDigits == 256 {
		rowDigits256(&dst[0], 2*stride, &src[0], len(src), d.scale, d.mask, d.count)
	} else {
		rowDigits512(&dst[0], 2*stride, &src[0], len(src), d.scale, d.mask, d.count)
	}
}

// panelDigits stores the digits of quads of rows of a panel, ld numbers apart,
// those of a place stride words after those of the one before.
func panelDigits(dst []int16, stride int, src []float32, ld, quads int, d digits) {
	if vectorDigits == 256 {
		panelDigits256(&dst[0], 2*stride, &src[0], 4*ld, quads, d.scale, d.mask, d.count)
	} else {
		panelDigits512(&dst[0], 2*stride, &src[0], 4*ld, quads, d.scale, d.mask, d.count)
	}
}

// setApart stores in dst the elements of src, whose number is a multiple of 16,
// that are integers of at most limit in magnitude when scaled, and zeros for
// the others, and these and their indices in values and at. It returns their
// number.
func setApart(dst, src []float32, scale, limit float32, at []int32, values []float32) int {
	if vectorDigits == 256 {
		return setApart256(&dst[0], &src[0], len(src), scale, limit, &at[0], &values[0])
	}
	return setApart512(&dst[0], &src[0], len(src), scale, limit, &at[0], &values[0])
}
