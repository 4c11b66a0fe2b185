package tcore

import (
	"math"
	"math/bits"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// exactKernel computes a tile of rows × 8 integer sums: of the k products of
// rows of a, lda bytes apart, and of 8 columns of b, side by side.
type exactKernel struct {
	rows int
	run  func(c *int64, a *int32, lda int, b *int64, k int)
}

// The blocking of exact sums, as of gemmSums.
const (
	exactColumns = 8
	exactDepth   = 256
	exactStride  = exactDepth + 16
)

// exactTerms returns how many products of elements of two grids a sum of 64
// bits has room for.
func exactTerms(a, b grid) int {
	return 1 << max(0, min(63-a.bits()-b.bits(), 30))
}

// exactSums computes e = AB, or |A||B|, in sums of 64 bits, if elements fit 32
// bits and the sums are long enough to be worth it.
func exactSums(e Exact, a, b blas32.General, ga, gb grid, abs bool) bool {
	const fewest = 32
	kernel, ok := exactKernelFor()
	scalable := func(g grid) bool { return g.bits() < 32 && -126 <= -g.low && -g.low <= 127 }
	if !ok || !scalable(ga) || !scalable(gb) || exactTerms(ga, gb) < fewest {
		return false
	}

	panels := packIntegers(b, float32(exp2(-gb.low)), abs)
	depth := min(exactDepth, exactTerms(ga, gb))
	terms := exactTerms(ga, gb) / depth * depth // before a sum is carried over
	scale := float32(exp2(-ga.low))
	tiles := (a.Rows + kernel.rows - 1) / kernel.rows
	parallel.Ranges(tiles, func(lo, hi int) {
		x := make([]int32, kernel.rows*exactStride)
		z := make([]int64, kernel.rows*exactColumns)
		sums := make([]int64, len(panels)*len(z))
		for i := lo * kernel.rows; i < min(hi*kernel.rows, a.Rows); i += kernel.rows {
			rows := min(kernel.rows, a.Rows-i)
			for k := 0; k < a.Cols; k += depth {
				n := min(depth, a.Cols-k)
				for r := range rows {
					toIntegers(x[r*exactStride:][:n], matrix.Row(a, i+r)[k:k+n], scale, abs)
				}
				for j, panel := range panels {
					kernel.run(&z[0], &x[0], 4*exactStride, &panel[k*exactColumns], n)
					s := sums[j*len(z):][:len(z)]
					for l, v := range z {
						s[l] += v
					}
				}
				if (k+depth)%terms == 0 || k+n == a.Cols {
					e.addTiles(sums, i, rows, len(z))
				}
			}
		}
	})
	return true
}

// addTiles adds the sums of a row of tiles, size elements each, to the rows of
// e from i on, and clears them.
func (e Exact) addTiles(sums []int64, i, rows, size int) {
	for r := range rows {
		for j := range e.cols {
			v := &sums[j/exactColumns*size+r*exactColumns+j%exactColumns]
			z := e.element(i+r, j)
			var carry uint64
			z[0], carry = bits.Add64(z[0], uint64(*v), 0)
			z[1] += uint64(*v>>63) + carry
			*v = 0
		}
	}
}

// packIntegers returns the columns of b in panels of 8, row by row, zeros beyond
// the last one.
func packIntegers(b blas32.General, scale float32, abs bool) [][]int64 {
	panels := make([][]int64, (b.Cols+exactColumns-1)/exactColumns)
	for j := range panels {
		panels[j] = make([]int64, b.Rows*exactColumns)
	}
	parallel.Ranges(b.Rows, func(lo, hi int) {
		y := make([]int32, b.Cols)
		for k := lo; k < hi; k++ {
			toIntegers(y, matrix.Row(b, k), scale, abs)
			for j, v := range y {
				panels[j/exactColumns][k*exactColumns+j%exactColumns] = int64(v)
			}
		}
	})
	return panels
}

// toIntegers stores (|x| or x) × scale in dst, which must be integers.
func toIntegers(dst []int32, src []float32, scale float32, abs bool) {
	n := vectorIntegers(dst, src, scale, abs)
	for i, x := range src[n:] {
		if abs {
			x = float32(math.Abs(float64(x)))
		}
		dst[n+i] = int32(x * scale)
	}
}
