package tcore

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
)

// sumsKernel computes a tile of rows × columns sums in binary32: it adds the k
// products of rows of a and columns of b to c, in order. a is row-major; each
// row of b has columns elements; strides are in bytes.
type sumsKernel struct {
	rows, columns int
	run           func(c *float32, ldc int, a *float32, lda int, b *float32, k int)

	// half, if not nil, does the same for n × 8 terms and rounds the elements
	// of a to binary16.
	half func(c *float32, ldc int, a *float32, lda int, b *float32, n int)
}

// The blocking of a product. sumsDepth terms of a block of rows stay in the
// cache while they are multiplied by all of b. The stride of their copy is not
// a power of two, because rows at such a stride would compete for the same
// cache lines.
const (
	sumsDepth  = 256
	sumsStride = sumsDepth + 16
	sumsRows   = 112
)

// gemmSums computes AB by sequential binary32 sums of elements rounded to low.
// Between blocks every sum is stored in d, so that the order of summation is
// that of the definition.
func gemmSums(a, b, d blas32.General, low Format, kernel sumsKernel) {
	panels := packPanels(b, low, kernel.columns)
	defer sumsScratch.panels.put(panels)
	tiles := (a.Rows + kernel.rows - 1) / kernel.rows
	parallel.Ranges(tiles, func(lo, hi int) {
		step := sumsRows / kernel.rows
		if kernel.half != nil {
			step = 1
		}
		w := sumsBlock{a: a, d: d, low: low, kernel: kernel, panels: panels,
			rows: sumsScratch.rows.get(step * kernel.rows * sumsStride),
			tile: make([]float32, kernel.rows*kernel.columns)}
		defer sumsScratch.rows.put(w.rows)
		for t := lo; t < hi; t += step {
			w.compute(t*kernel.rows, min(min(t+step, hi)*kernel.rows, a.Rows))
		}
	})
}

// sumsScratch recycles the memory of finished products.
var sumsScratch struct{ panels, rows scratch[float32] }

// packPanels returns b in panels of the given number of columns, one after the
// other, padded with zeros beyond the last column.
func packPanels(b blas32.General, low Format, columns int) []float32 {
	count := (b.Cols + columns - 1) / columns
	panels := sumsScratch.panels.get(count * columns * b.Rows)
	parallel.Ranges(b.Rows, func(lo, hi int) {
		x := make([]float32, count*columns)
		for k := lo; k < hi; k++ {
			roundRow(x[:b.Cols], matrix.Row(b, k), low)
			for j := range count {
				copy(panels[(j*b.Rows+k)*columns:][:columns], x[j*columns:])
			}
		}
	})
	return panels
}

// sumsBlock contains the operands and the memory of one goroutine.
type sumsBlock struct {
	a, d   blas32.General
	low    Format
	kernel sumsKernel
	panels []float32
	rows   []float32 // sumsDepth terms of a block of rows, rounded
	tile   []float32 // a copy of a tile at the edge of d
}

// compute computes the rows [lo, hi) of d.
func (w *sumsBlock) compute(lo, hi int) {
	for i := lo; i < hi; i++ {
		clear(matrix.Row(w.d, i))
	}
	for k := w.computeHalf(lo, hi); k < w.a.Cols; k += sumsDepth {
		n := min(sumsDepth, w.a.Cols-k)
		for i := lo; i < hi; i++ {
			roundRow(w.rows[(i-lo)*sumsStride:][:n], matrix.Row(w.a, i)[k:k+n], w.low)
		}
		for j := 0; j < w.d.Cols; j += w.kernel.columns {
			b := w.panel(j)[k*w.kernel.columns:]
			for i := lo; i < hi; i += w.kernel.rows {
				a := &w.rows[(i-lo)*sumsStride]
				w.inTile(i, j, hi, func(c *float32, ldc int) {
					w.kernel.run(c, ldc, a, 4*sumsStride, &b[0], n)
				})
			}
		}
	}
}

// computeHalf adds the leading terms with the kernel for binary16, where it
// applies, and returns their number.
func (w *sumsBlock) computeHalf(lo, hi int) int {
	n := w.a.Cols / 8
	if w.kernel.half == nil || n == 0 || !w.low.Equal(Binary16) || (hi-lo)%w.kernel.rows != 0 {
		return 0
	}
	for i := lo; i < hi; i += w.kernel.rows {
		for j := 0; j < w.d.Cols; j += w.kernel.columns {
			panel := w.panel(j)
			w.inTile(i, j, hi, func(c *float32, ldc int) {
				w.kernel.half(c, ldc, &w.a.Data[i*w.a.Stride], 4*w.a.Stride, &panel[0], n)
			})
		}
	}
	return 8 * n
}

// panel returns the panel that begins with column j.
func (w *sumsBlock) panel(j int) []float32 { return w.panels[j*w.a.Cols:] }

// inTile calls add with the tile of d at row i and column j. It changes only
// rows before end: at an edge, add works on a copy of the tile.
func (w *sumsBlock) inTile(i, j, end int, add func(c *float32, ldc int)) {
	kernel, stride := w.kernel, w.d.Stride
	if i+kernel.rows <= end && j+kernel.columns <= w.d.Cols {
		add(&w.d.Data[i*stride+j], 4*stride)
		return
	}
	rows, columns := min(kernel.rows, end-i), min(kernel.columns, w.d.Cols-j)
	for r := range rows {
		copy(w.tile[r*kernel.columns:][:columns], w.d.Data[(i+r)*stride+j:])
	}
	add(&w.tile[0], 4*kernel.columns)
	for r := range rows {
		copy(w.d.Data[(i+r)*stride+j:][:columns], w.tile[r*kernel.columns:])
	}
}

// roundRow stores src rounded to f in dst, to nearest even.
func roundRow(dst, src []float32, f Format) {
	if n := vectorRound32(f, dst, src); n < len(src) {
		f.RoundSlice32(dst[n:], src[n:])
	}
}
