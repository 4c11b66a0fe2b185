package exact

import (
	"math"
	"math/bits"
	"sort"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// An outlier is an element that needs digits which few others need: of numbers
// from N(0,1) in binary16, one in thousands lies so close to zero that its last
// bits are less than the 24 bits of two digits can hold beside the greatest.
//
// Outliers are set apart, and their products are added one by one. The other
// elements are dense and have fewer digits. With A = A' + X and B = B' + Y,
// where X and Y are the outliers,
//
//	AB = A'B' + A'Y + XB
//	|A||B| = |A'||B'| + |A'||Y| + |X||B|
//
// The second is true since of an element of A that of A' or that of X is zero.
type outlier struct {
	row, col int
	value    float32
}

const (
	rareOutlier = 256  // of so many elements at most one is an outlier
	sampleSize  = 1024 // elements that are counted, at least, if there are so many
)

// denseGrid returns the grid of the fewest digits in which outliers are rare
// among elements on the grid g; ok is false if these are all digits of g. It
// counts the last and the first bits of a sample of the elements. In the middle
// of several grids of equally few outliers there is room on both sides for
// elements that are not in the sample.
func denseGrid(g grid, rows [][]float32) (dense grid, ok bool) {
	all, ok := digitsOf(g, signed)
	if !ok || all.count == 1 || g.bits() > 63 {
		return g, false
	}
	var last, first [64]int // how many elements have that bit, counted from g.low
	number := 0
	stride := max(1, len(rows)*len(rows[0])/sampleSize) | 1
	for r, x := range rows {
		for i := r % stride; i < len(x); i += stride {
			number++
			if x[i] != 0 {
				v := unpack(float64(x[i]))
				last[v.exp-g.low+bits.TrailingZeros64(v.sig)]++
				first[v.exp-g.low+bits.Len64(v.sig)-1]++
			}
		}
	}
	for width := digitBits; width < all.count*digitBits; width += digitBits {
		outliers := 0
		for _, n := range first[width:] {
			outliers += n
		}
		least, from, to := outliers, 0, 0 // of grids from 2^from to 2^to
		for i := 1; i <= g.bits()-width; i++ {
			outliers += last[i-1] - first[i-1+width]
			switch {
			case outliers < least:
				least, from, to = outliers, i, i
			case outliers == least && to == i-1:
				to = i
			}
		}
		if low := g.low + (from+to)/2; least*rareOutlier <= number {
			return grid{low, math.Ldexp(1, low+width)}, -126 <= -low && -low <= 127
		}
	}
	return g, false
}

// withoutOutliers sets apart the outliers of rows, which have a grid g, and
// returns the grid of the dense elements, and the outliers. Rows then are
// dense, stored in buffer, which may be where they were. If outliers are not
// rare, none are set apart.
func withoutOutliers(g grid, rows, buffer [][]float32) (dense grid, found []outlier) {
	dense, ok := denseGrid(g, rows)
	if !ok {
		return g, nil
	}
	// An element is a multiple of 2^(low-63), and less than 2^(low+63): none is
	// rounded when it is scaled.
	scale := float32(math.Ldexp(1, -dense.low))
	limit := float32(math.Ldexp(dense.greatest, -dense.low))
	n := len(rows[0])
	at, values := make([]int32, n+16), make([]float32, n+16)
	for r, x := range rows {
		whole, count := n&^15, 0
		if whole > 0 {
			count = setApart(buffer[r], x[:whole], scale, limit, at, values)
		}
		if whole < n {
			var edge [16]float32
			copy(edge[:], x[whole:])
			more := setApart(edge[:], edge[:], scale, limit, at[count:], values[count:])
			for i := range more {
				at[count+i] += int32(whole)
			}
			copy(buffer[r][whole:], edge[:])
			count += more
		}
		for i := range count {
			found = append(found, outlier{r, int(at[i]), values[i]})
		}
	}
	copy(rows, buffer)
	if len(found)*rareOutlier > len(rows)*n {
		for _, x := range found {
			rows[x.row][x.col] = x.value
		}
		return g, nil
	}
	return dense, found
}

// addOutliers adds to the products e, from row i on, those of outliers: of the
// dense rows of a, terms lo to hi, by outliers of b, and of the outliers x of
// these rows by b. Elements of a in e are in units of 2^low.
func (p digitProduct) addOutliers(e [kinds]Matrix, i, lo, hi int, rows [][]float32, x []outlier, low int) {
	find := func(row int) int {
		return sort.Search(len(p.outliers), func(n int) bool { return p.outliers[n].row >= row })
	}
	y := p.outliers[find(lo):find(hi)]
	ofA, ofB := math.Ldexp(1, -low), math.Ldexp(1, -p.grid.low)
	for _, kind := range p.list {
		z := e[kind]
		for r, row := range rows {
			for _, y := range y {
				z.addProduct((i+r)*z.cols+y.col, kind.integer(row[y.row-lo], ofA), kind.integer(y.value, ofB))
			}
		}
		for _, x := range x {
			n := kind.integer(x.value, ofA)
			for j, y := range matrix.Row(p.b, lo+x.col) {
				z.addProduct((i+x.row)*z.cols+j, n, kind.integer(y, ofB))
			}
		}
	}
}

// addProduct adds xy to the element of e at an index, modulo a power of two.
// Elements have one or two limbs.
func (e Matrix) addProduct(at int, x, y int64) {
	if e.limbs == 1 {
		e.data[at] += uint64(x * y)
		return
	}
	high, low := signedProduct(x, y)
	z := e.data[2*at:][:2]
	var carry uint64
	z[0], carry = bits.Add64(z[0], low, 0)
	z[1] += high + carry
}
