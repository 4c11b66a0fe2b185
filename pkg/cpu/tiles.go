package cpu

import (
	"sync"
	"unsafe"

	"github.com/roundofflab/roundoff/internal/parallel"
)

// tileKernel is an instruction on tiles of 16 rows of 64 bytes, of a matrix
// unit or of vectors, for whole products of factors with elements of type E.
type tileKernel[E float32 | uint16 | uint8] struct {
	terms int // products in a tile
	step  int // products in one instruction, a part of terms

	blocks    blocks
	packLeft  func(dst *byte, src *E, tiles int)         // a row of so many tiles
	packRight func(dst *byte, src *E, ld int, tiles int) // 32 columns, of rows that are ld bytes apart

	negativeZero E // if step is less than terms
}

// blocks stores blocks of 32 × 32 sums at to, whose rows are ld bytes apart,
// and nextTo bytes from one to the next. Each continues the next block of from,
// or begins with zeros if from is nil, by the products of the strip a, which
// stays in the first cache, and the next panel of b, of so many pairs of tiles.
// What is at next is fetched to the second cache.
type blocks func(from, to *byte, ld int, a, b *byte, tiles, blocks, nextTo int, next *byte)

const (
	width     = 32                // rows of a strip of A, columns of a panel of B
	pairBytes = 2048              // of two tiles, of a strip or panel
	sumBytes  = 4 * width * width // of a block of sums

	// deep pairs of tiles of a strip fit into the first cache, beside what passes
	// of panels; so many bytes of panels, and the sums of high strips and wide
	// panels beside the panels, into the second.
	deep, high, wide = 16, 8, 16
	cached           = 1 << 20
)

// view is a matrix whose element (i, j) is data[i*stride+j].
type view[T any] struct {
	rows, cols, stride int
	data               []T
}

// below returns the rows of m from the given one on.
func (m view[T]) below(row int) view[T] {
	return view[T]{m.rows - row, m.cols, m.stride, m.data[row*m.stride:]}
}

// layout is that of a factor in strips or panels. All tiles of which the
// kernel takes deep at a time are side by side.
type layout struct{ strips, tiles int }

func (l layout) bytes() int { return l.strips * l.tiles * pairBytes }

// from returns the index of the first byte of a pair of tiles.
func (l layout) from(strip, tile int) int {
	first := tile / deep * deep
	return (first*l.strips + strip*min(deep, l.tiles-first) + tile - first) * pairBytes
}

// tiled is a product of matrices in tiles.
type tiled[E float32 | uint16 | uint8, S float32 | int32] struct {
	kernel      *tileKernel[E]
	tiles       int // along K
	a, b        layout
	left, right []byte
	d           view[S]

	// finish stores a block of sums whose first is that of row i and column j, if
	// it is not nil. Otherwise they are stored in d as they are.
	finish func(i, j int, sums view[S])
}

// multiply computes AB.
func multiply[E float32 | uint16 | uint8, S float32 | int32](k *tileKernel[E], a, b view[E], d view[S], finish func(i, j int, sums view[S])) {
	p := tiled[E, S]{kernel: k, tiles: parts(a.cols, k.terms), d: d, finish: finish}
	p.a, p.b = layout{parts(a.rows, width), p.tiles}, layout{parts(b.cols, width), p.tiles}
	m := take(p.b.bytes())
	defer m.release()
	p.right = m.bytes
	parallel.Ranges(p.b.strips, func(lo, hi int) {
		for panel := lo; panel < hi; panel++ {
			k.packPanel(p.right, p.b, b, panel)
		}
	})
	if p.tiles <= deep && p.b.bytes() <= cached {
		parallel.Ranges(p.a.strips, func(lo, hi int) { p.rows(a, lo, hi) })
		return
	}
	left := take(p.a.bytes())
	defer left.release()
	p.left = left.bytes
	parallel.Ranges(p.a.strips, func(lo, hi int) {
		for strip := lo; strip < hi; strip++ {
			k.packStrip(p.left, p.a, a, strip)
		}
	})
	columns := parts(p.b.strips, wide)
	parallel.Each(parts(p.a.strips, high)*columns, func(i int) {
		p.block(i/columns*high, i%columns*wide)
	})
}

// rows computes the sums of the strips [lo, hi), each of which is packed when
// it is needed, while all panels stay in the second cache.
func (p *tiled[E, S]) rows(a view[E], lo, hi int) {
	size := p.tiles * pairBytes
	m := take(size + wide*sumBytes)
	defer m.release()
	left, sums := m.bytes[:size], m.bytes[size:]
	for strip := lo; strip < hi; strip++ {
		p.kernel.packStrip(left, layout{1, p.tiles}, a.below(strip*width), 0)
		for panel := 0; panel < p.b.strips; panel += wide {
			end := min(panel+wide, p.b.strips)
			p.across(sums, &left[0], strip, panel, end, 0, &p.right[0])
			p.rest(sums, strip, panel, end)
		}
	}
}

// block computes the sums of the next high strips and wide panels.
func (p *tiled[E, S]) block(strip, panel int) {
	m := take(high * wide * sumBytes)
	defer m.release()
	last, end := min(strip+high, p.a.strips), min(panel+wide, p.b.strips)
	sums := func(i int) []byte { return m.bytes[(i-strip)*wide*sumBytes:] }
	for tile := 0; tile < p.tiles; tile += deep {
		for i := strip; i < last; i++ {
			next, nextTile := i+1, tile
			if next == last {
				next, nextTile = strip, min(tile+deep, p.tiles-1)
			}
			p.across(sums(i), &p.left[p.a.from(i, tile)], i, panel, end, tile, &p.left[p.a.from(next, nextTile)])
		}
	}
	for i := strip; i < last; i++ {
		p.rest(sums(i), i, panel, end)
	}
}

// across continues the sums of a strip and the panels [panel, end) by the pairs
// of tiles from tile on, at most deep of them. a is the strip from there on.
// The last sums are stored in d, as far as [tiled.whole] says.
func (p *tiled[E, S]) across(sums []byte, a *byte, strip, panel, end, tile int, next *byte) {
	n := min(deep, p.tiles-tile)
	run := func(to *byte, ld, panel, end, nextTo int, sums []byte) {
		var from *byte
		if tile > 0 {
			from = &sums[0]
		}
		p.kernel.blocks(from, to, ld, a, &p.right[p.b.from(panel, tile)], n, end-panel, nextTo, next)
	}
	whole := panel
	if tile+deep >= p.tiles {
		whole = p.whole(strip, panel, end)
	}
	if whole > panel {
		run((*byte)(unsafe.Pointer(&p.d.data[strip*width*p.d.stride+panel*width])), 4*p.d.stride, panel, whole, 4*width, sums)
	}
	if whole < end {
		here := sums[(whole-panel)*sumBytes:]
		run(&here[0], 4*width, whole, end, sumBytes, here)
	}
}

// whole returns the end of those of the panels [panel, end) whose sums with a
// strip the kernel stores in d.
func (p *tiled[E, S]) whole(strip, panel, end int) int {
	if p.finish != nil || (strip+1)*width > p.d.rows {
		return panel
	}
	return max(panel, min(end, p.d.cols/width))
}

// rest stores the other sums of a strip and the panels [panel, end).
func (p *tiled[E, S]) rest(sums []byte, strip, panel, end int) {
	for j := p.whole(strip, panel, end); j < end; j++ {
		at := &sums[(j-panel)*sumBytes]
		p.store(strip*width, j*width, unsafe.Slice((*S)(unsafe.Pointer(at)), width*width))
	}
}

// store stores the block of sums from row i and column j on, as far as it is
// in d.
func (p *tiled[E, S]) store(i, j int, sums []S) {
	block := view[S]{min(width, p.d.rows-i), min(width, p.d.cols-j), width, sums}
	if p.finish != nil {
		p.finish(i, j, block)
		return
	}
	for r := range block.rows {
		copy(p.d.data[(i+r)*p.d.stride+j:][:block.cols], sums[r*width:])
	}
}

// packStrip stores the rows of a strip of a in tiles, padded with zeros. Those
// that fill up a last instruction are positive; those of instructions that the
// product does not have are negative, and since the zeros of b are positive,
// they add -0 to a sum, which changes none: +0 would change -0.
func (k *tileKernel[E]) packStrip(dst []byte, l layout, a view[E], strip int) {
	for r := range width {
		var row []E
		if i := strip*width + r; i < a.rows {
			row = a.data[i*a.stride:][:a.cols]
		}
		for q := 0; q < l.tiles; q += deep {
			n, to := min(deep, l.tiles-q), l.from(strip, q)+r/side*1024+r%side*64
			full := min(n, len(row)/k.terms)
			if full > 0 {
				k.packLeft(&dst[to], &row[0], full)
				row = row[full*k.terms:]
			}
			if full < n { // which is so at the end of a row, and below the last
				var end [64]E
				for t := full; t < n; t++ {
					clear(end[copy(end[:], row):])
					for l := whole(len(row), k.step); l < k.terms; l++ {
						end[l] = k.negativeZero
					}
					k.packLeft(&dst[to+t*pairBytes], &end[0], 1)
					row = nil
				}
			}
		}
	}
}

// packPanel stores the columns of a panel of b in tiles, padded with zeros.
func (k *tileKernel[E]) packPanel(dst []byte, l layout, b view[E], panel int) {
	column := panel * width
	cols := min(width, b.cols-column)
	size := int(unsafe.Sizeof(k.negativeZero))
	for q := 0; q < l.tiles; q += deep {
		n, at, full := min(deep, l.tiles-q), l.from(panel, q), 0
		if cols == width {
			full = min(n, b.rows/k.terms-q)
		}
		if full > 0 {
			k.packRight(&dst[at], &b.data[q*k.terms*b.stride+column], b.stride*size, full)
		}
		for t := full; t < n; t++ {
			var some [64 * width]E
			for i := range min(k.terms, b.rows-(q+t)*k.terms) {
				copy(some[i*width:], b.data[((q+t)*k.terms+i)*b.stride+column:][:cols])
			}
			k.packRight(&dst[at+t*pairBytes], &some[0], width*size, 1)
		}
	}
}

// parts returns n / part, rounded up.
func parts(n, part int) int { return (n + part - 1) / part }

// memory is recycled from one product to the next. New memory would cost every
// product page faults, and soon a garbage collection.
type memory struct{ bytes []byte }

var memories sync.Pool

// take returns n bytes of arbitrary values.
func take(n int) *memory {
	if m, _ := memories.Get().(*memory); m != nil && cap(m.bytes) >= n {
		m.bytes = m.bytes[:n]
		return m
	}
	return &memory{make([]byte, n)}
}

func (m *memory) release() { memories.Put(m) }
