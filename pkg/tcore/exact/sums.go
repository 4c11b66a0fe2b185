package exact

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// kernel computes a tile of rows × 8 integer sums of k products each. Rows of a
// are lda bytes apart; each row of b has 8 consecutive columns.
type kernel struct {
	rows int
	run  func(c *int64, a *int32, lda int, b *int64, k int)
}

// The blocking of exact sums. It has the purpose of that of sumsProduct in
// package tcore.
const (
	columnsOfPanel = 8
	depthOfPanel   = 256
	strideOfPanel  = depthOfPanel + 16
)

// carryFree returns how many products of elements of two grids a 64-bit sum can
// add without overflow.
func carryFree(a, b grid) int {
	return 1 << max(0, min(63-a.bits()-b.bits(), 30))
}

// hasIntegerSums reports whether integerSums multiplies elements of two grids:
// there is a vector kernel, the elements fit 32 bits, and a 64-bit sum can add
// enough products to be worthwhile.
func hasIntegerSums(a, b grid) bool {
	const fewest = 32
	scalable := func(g grid) bool { return g.bits() < 32 && -126 <= -g.low && -g.low <= 127 }
	return vectorBits > 0 && scalable(a) && scalable(b) && carryFree(a, b) >= fewest
}

// integerSums computes e = AB, or |A||B|, with 64-bit sums, of elements for
// which it has them.
func integerSums(e Matrix, a, b blas32.General, ga, gb grid, abs bool) {
	kernel := kernelFor()
	panels := packIntegers(b, float32(math.Ldexp(1, -gb.low)), abs)
	depth := min(depthOfPanel, carryFree(ga, gb))
	terms := carryFree(ga, gb) / depth * depth // that a sum adds before it is added to e
	scale := float32(math.Ldexp(1, -ga.low))
	tiles := (a.Rows + kernel.rows - 1) / kernel.rows
	parallel.Ranges(tiles, func(lo, hi int) {
		x := make([]int32, kernel.rows*strideOfPanel)
		z := make([]int64, kernel.rows*columnsOfPanel)
		sums := make([]int64, len(panels)*len(z))
		for i := lo * kernel.rows; i < min(hi*kernel.rows, a.Rows); i += kernel.rows {
			rows := min(kernel.rows, a.Rows-i)
			for k := 0; k < a.Cols; k += depth {
				n := min(depth, a.Cols-k)
				for r := range rows {
					toIntegers(x[r*strideOfPanel:][:n], matrix.Row(a, i+r)[k:k+n], scale, abs)
				}
				for j, panel := range panels {
					kernel.run(&z[0], &x[0], 4*strideOfPanel, &panel[k*columnsOfPanel], n)
					s := sums[j*len(z):][:len(z)]
					for l, v := range z {
						s[l] += v
					}
				}
				if (k+depth)%terms == 0 || k+n == a.Cols {
					e.addTiles(sums, i, rows, len(z), 0)
				}
			}
		}
	})
}

// addTiles adds 2^shift times the sums of a row of tiles of size elements each
// to the rows of e from i on, and then sets the sums to zero. Elements of e
// have one or two limbs. If they have one, sums with a shift of 64 or more must
// be zero.
func (e Matrix) addTiles(sums []int64, i, rows, size, shift int) {
	for r := range rows {
		for j := 0; j < e.cols; j += columnsOfPanel {
			tile := sums[j/columnsOfPanel*size+r*columnsOfPanel:][:columnsOfPanel]
			first := (i+r)*e.cols + j
			n := min(columnsOfPanel, e.cols-j)
			if e.limbs == 1 {
				z := e.data[first:][:n]
				for c, v := range tile[:len(z)] {
					z[c] += uint64(v) << (shift & 63)
				}
			} else {
				for c, v := range tile[:n] {
					z := int128{int64(e.data[2*(first+c)+1]), e.data[2*(first+c)]}.plus(v, shift)
					e.data[2*(first+c)], e.data[2*(first+c)+1] = z.lo, uint64(z.hi)
				}
			}
		}
	}
	clear(sums)
}

// packIntegers returns the columns of b as integers in panels of 8 columns, row
// by row. Columns beyond the last are zero.
func packIntegers(b blas32.General, scale float32, abs bool) [][]int64 {
	panels := make([][]int64, (b.Cols+columnsOfPanel-1)/columnsOfPanel)
	for j := range panels {
		panels[j] = make([]int64, b.Rows*columnsOfPanel)
	}
	parallel.Ranges(b.Rows, func(lo, hi int) {
		y := make([]int32, b.Cols)
		for k := lo; k < hi; k++ {
			toIntegers(y, matrix.Row(b, k), scale, abs)
			for j, v := range y {
				panels[j/columnsOfPanel][k*columnsOfPanel+j%columnsOfPanel] = int64(v)
			}
		}
	})
	return panels
}

// toIntegers stores x × scale or |x| × scale in dst for all x in src. The
// results must be integers.
func toIntegers(dst []int32, src []float32, scale float32, abs bool) {
	n := vectorIntegers(dst, src, scale, abs)
	for i, x := range src[n:] {
		if abs {
			x = float32(math.Abs(float64(x)))
		}
		dst[n+i] = int32(x * scale)
	}
}
