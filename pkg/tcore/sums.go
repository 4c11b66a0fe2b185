package tcore

import (
	"runtime"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// float is a type of the processor's floating-point numbers.
type float interface{ float32 | float64 }

// sumsKernel continues a tile of rows × columns sums of type S by k products of
// factors of type T, in order and a block of terms at once. c is row-major with
// ldc elements in a row; so are the rows of a, and each row of b has columns
// elements.
type sumsKernel[S, T float] struct {
	rows, columns, terms int
	run                  func(c []S, ldc int, a []T, lda int, b []T, k int)

	// half, if not nil, does the same for n × 8 terms of elements of A, which it
	// rounds to binary16.
	half func(c []S, ldc int, a []float32, lda int, b []T, n int)
}

// tileRoutine is a routine of package vector that continues sums. Strides are
// in bytes.
type tileRoutine[S, T float] = func(c *S, ldc int, a *T, lda int, b *T, k int)

// newSumsKernel returns the kernel of a routine.
func newSumsKernel[S, T float](rows, columns, terms int, routine tileRoutine[S, T]) sumsKernel[S, T] {
	return sumsKernel[S, T]{rows: rows, columns: columns, terms: terms,
		run: func(c []S, ldc int, a []T, lda int, b []T, k int) {
			routine(&c[0], ldc*size[S](), &a[0], lda*size[T](), &b[0], k)
		}}
}

// size returns the number of bytes of a number.
func size[T float]() int { return int(unsafe.Sizeof(T(0))) }

// The blocking of a product. As many terms of a block of rows as fit into
// sumsDepth bytes stay in the cache while they are multiplied by all of b. The
// stride of their copy is not a power of two, because rows at such a stride
// would compete for the same cache lines.
const (
	sumsDepth = 2048 // bytes
	sumsPad   = 64   // bytes
	sumsRows  = 448
)

// sumsProduct is the product of a and b by sequential sums. Between blocks
// every sum is stored, so that the order of summation is that of the
// definition.
type sumsProduct[S, T float] struct {
	a, b   blas32.General
	kernel sumsKernel[S, T]
	half   bool // whether elements of a are rounded to binary16 as kernel.half does

	// row and column convert elements of a and of b to factors.
	row, column func(dst []T, src []float32)

	k      int // terms in whole blocks
	panels []T
}

// newSumsProduct converts b.
func newSumsProduct[S, T float](a, b blas32.General, kernel sumsKernel[S, T], row, column func(dst []T, src []float32)) *sumsProduct[S, T] {
	p := &sumsProduct[S, T]{a: a, b: b, kernel: kernel, row: row, column: column}
	p.k = (a.Cols + kernel.terms - 1) / kernel.terms * kernel.terms
	p.packPanels()
	return p
}

func (p *sumsProduct[S, T]) release() { sumsScratchOf[T]().panels.put(p.panels) }

// sumsScratch recycles the memory of finished products.
type sumsScratch[T float] struct{ panels, rows scratch[T] }

var (
	sumsScratch32 sumsScratch[float32]
	sumsScratch64 sumsScratch[float64]
)

func sumsScratchOf[T float]() *sumsScratch[T] {
	if s, ok := any(&sumsScratch32).(*sumsScratch[T]); ok {
		return s
	}
	return any(&sumsScratch64).(*sumsScratch[T])
}

// packPanels stores b in panels of as many columns as the kernel has, one after
// the other, padded with zeros beyond the last column and the last row.
func (p *sumsProduct[S, T]) packPanels() {
	columns := p.kernel.columns
	count := (p.b.Cols + columns - 1) / columns
	p.panels = sumsScratchOf[T]().panels.get(count * columns * p.k)
	parallel.Ranges(p.k, func(lo, hi int) {
		x := make([]T, count*columns)
		for k := lo; k < hi; k++ {
			if k < p.b.Rows {
				p.column(x[:p.b.Cols], matrix.Row(p.b, k))
			} else {
				clear(x)
			}
			for j := range count {
				copy(p.panels[(j*p.k+k)*columns:][:columns], x[j*columns:])
			}
		}
	})
}

// addTo continues the sums d, row-major with stride elements in a row, in parts
// on GOMAXPROCS goroutines. For the columns [first, end) of each row of a part,
// which are in d where its third argument is, start, if not nil, stores what
// they start from before the first term, and finish uses them after the last.
func (p *sumsProduct[S, T]) addTo(d []S, stride int, start, finish func(i, first int, sums []S)) {
	work := func(lo, hi, firstColumn, endColumn int) {
		each := func(f func(i, first int, sums []S)) {
			for i := lo * p.kernel.rows; f != nil && i < min(hi*p.kernel.rows, p.a.Rows); i++ {
				f(i, firstColumn, d[i*stride:][firstColumn:endColumn])
			}
		}
		step := sumsRows / p.kernel.rows
		if p.half {
			step = 1
		}
		w := sumsBlock[S, T]{sumsProduct: p, d: d, stride: stride, firstColumn: firstColumn, endColumn: endColumn,
			rows: sumsScratchOf[T]().rows.get(step * p.kernel.rows * rowStride[T]()),
			tile: make([]S, p.kernel.rows*p.kernel.columns)}
		defer sumsScratchOf[T]().rows.put(w.rows)
		each(start)
		for t := lo; t < hi; t += step {
			w.compute(t*p.kernel.rows, min(min(t+step, hi)*p.kernel.rows, p.a.Rows))
		}
		each(finish)
	}
	// A part converts all of its rows of a, so that columns are divided into few
	// parts, if there are so many that this takes little of the time.
	const many = 2048
	t := tiling{m: p.a.Rows, n: p.b.Cols, rows: p.kernel.rows, columns: p.kernel.columns}
	byColumns := t.wide() && t.n >= many
	if byColumns {
		t.columns *= max(1, t.panels()/(4*runtime.GOMAXPROCS(0)))
	}
	t.divide(byColumns, func(lo, hi, first, end int) { work(lo, hi, first*t.columns, min(end*t.columns, t.n)) })
}

// rowStride returns the number of elements between two rows of a block.
func rowStride[T float]() int { return (sumsDepth + sumsPad) / size[T]() }

// sumsBlock contains the sums and the memory of one goroutine.
type sumsBlock[S, T float] struct {
	*sumsProduct[S, T]
	d                      []S
	stride                 int
	firstColumn, endColumn int
	rows                   []T // sumsDepth bytes of each of a block of rows, converted
	tile                   []S // a copy of a tile at the edge of d
}

// compute computes the rows [lo, hi) of d.
func (w *sumsBlock[S, T]) compute(lo, hi int) {
	stride := rowStride[T]()
	depth := sumsDepth / size[T]()
	for k := w.computeHalf(lo, hi); k < w.k; k += depth {
		n := min(depth, w.k-k)
		w.packRows(lo, hi, k, n)
		for j := w.firstColumn; j < w.endColumn; j += w.kernel.columns {
			b := w.panel(j)[k*w.kernel.columns:]
			for i := lo; i < hi; i += w.kernel.rows {
				w.inTile(i, j, hi, func(c []S, ldc int) {
					w.kernel.run(c, ldc, w.rows[(i-lo)*stride:], stride, b, n)
				})
			}
		}
	}
}

// packRows converts n terms, from k on, of the rows [lo, hi), and adds zeros to
// whole blocks and whole tiles.
func (w *sumsBlock[S, T]) packRows(lo, hi, k, n int) {
	end := min(k+n, w.a.Cols)
	for i := lo; i < hi; i++ {
		x := w.rows[(i-lo)*rowStride[T]():][:n]
		w.row(x[:end-k], matrix.Row(w.a, i)[k:end])
		clear(x[end-k:])
	}
	for i := hi; (i-lo)%w.kernel.rows != 0; i++ {
		clear(w.rows[(i-lo)*rowStride[T]():][:n])
	}
}

// computeHalf adds the leading terms with the kernel for binary16, where it
// applies, and returns their number.
func (w *sumsBlock[S, T]) computeHalf(lo, hi int) int {
	n := w.a.Cols / 8
	if !w.half || n == 0 || (hi-lo)%w.kernel.rows != 0 {
		return 0
	}
	for i := lo; i < hi; i += w.kernel.rows {
		for j := w.firstColumn; j < w.endColumn; j += w.kernel.columns {
			panel := w.panel(j)
			w.inTile(i, j, hi, func(c []S, ldc int) {
				w.kernel.half(c, ldc, w.a.Data[i*w.a.Stride:], w.a.Stride, panel, n)
			})
		}
	}
	return 8 * n
}

// panel returns the panel that begins with column j.
func (w *sumsBlock[S, T]) panel(j int) []T { return w.panels[j*w.k:] }

// inTile calls add with the tile of d at row i and column j. It changes only
// rows before end: at an edge, add works on a copy of the tile.
func (w *sumsBlock[S, T]) inTile(i, j, end int, add func(c []S, ldc int)) {
	kernel, stride := &w.kernel, w.stride
	if i+kernel.rows <= end && j+kernel.columns <= w.b.Cols {
		add(w.d[i*stride+j:], stride)
		return
	}
	rows, columns := min(kernel.rows, end-i), min(kernel.columns, w.b.Cols-j)
	for r := range rows {
		copy(w.tile[r*kernel.columns:][:columns], w.d[(i+r)*stride+j:])
	}
	add(w.tile, kernel.columns)
	for r := range rows {
		copy(w.d[(i+r)*stride+j:][:columns], w.tile[r*kernel.columns:])
	}
}

// sums32 is a product whose sums are numbers of binary32.
type sums32[T float] struct {
	*sumsProduct[float32, T]

	// start, if not nil, replaces numbers of C by those that sums start from.
	start func(row []float32)

	done *path
}

// addTo stores C + AB in z.
func (p *sums32[T]) addTo(c, z blas32.General) {
	p.sumsProduct.addTo(z.Data, z.Stride, func(i, first int, sums []float32) {
		if c.Data == nil {
			clear(sums)
			return
		}
		copy(sums, matrix.Row(c, i)[first:])
		if p.start != nil {
			p.start(sums)
		}
	}, nil)
	p.done.count(p.a.Rows, p.a.Cols, p.b.Cols)
}

// sums64 is a product whose sums are numbers of binary64.
type sums64 struct {
	*sumsProduct[float64, float64]
	done *path
}

// addTo stores C + AB in z, rounded to binary32.
func (p *sums64) addTo(c, z blas32.General) {
	stride := z.Cols | 8 // not a power of two, as that of blocks
	sums := sums64Scratch.get(z.Rows * stride)
	defer sums64Scratch.put(sums)
	p.sumsProduct.addTo(sums, stride, func(i, first int, sums []float64) {
		if c.Data == nil {
			clear(sums)
			return
		}
		widenSlice(sums, matrix.Row(c, i)[first:][:len(sums)])
	}, func(i, first int, sums []float64) {
		narrowSlice(matrix.Row(z, i)[first:][:len(sums)], sums)
	})
	p.done.count(p.a.Rows, p.a.Cols, p.b.Cols)
}

// sums64Scratch recycles the sums of finished products.
var sums64Scratch scratch[float64]

// within32 reports whether a float32 number rounded to f is a float32 number.
func within32(f Format) bool { return Binary32.contains(f) || f.extends(Binary32) }

// converter32 returns the conversion of elements to factors of f by d.
func converter32(d *Device, f Format) func(dst, src []float32) {
	device := *d
	return func(dst, src []float32) { device.convertRow(dst, src, f) }
}

// converter64 is converter32 for factors in binary64.
func converter64(d *Device, f Format) func(dst []float64, src []float32) {
	if f.extends(Binary32) {
		return widenSlice
	}
	device := *d
	return func(dst []float64, src []float32) {
		var x [256]float32
		for len(src) > 0 {
			n := min(len(src), len(x))
			device.convertRow(x[:n], src[:n], f)
			widenSlice(dst[:n], x[:n])
			dst, src = dst[n:], src[n:]
		}
	}
}

// roundRow stores src rounded to f in dst, to nearest even.
func roundRow(dst, src []float32, f Format) {
	if n := vectorRound32(f, dst, src); n < len(src) {
		f.RoundSlice32(dst[n:], src[n:])
	}
}
