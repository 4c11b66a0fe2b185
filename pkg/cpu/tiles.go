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

	// strips stores blocks of 32 × 32 sums, one below the other, at to, whose rows
	// are ld bytes apart. Each continues the next block of from, or begins with
	// zeros if from is nil, by the products of the next strip of a, of so many
	// pairs of tiles, and the panel b. It fetches what is at next to a cache.
	strips func(from, to *byte, ld int, a, b *byte, tiles, strips int, next *byte)

	packLeft  func(dst *byte, src *E, tiles int)         // a row of so many tiles
	packRight func(dst *byte, src *E, ld int, tiles int) // 32 columns, of rows that are ld bytes apart

	negativeZero E // if step is less than terms
}

const (
	width     = 32                // rows of a strip of A, columns of a panel of B
	pairBytes = 2048              // of two tiles, of a strip or panel
	sumBytes  = 4 * width * width // of a block of sums

	// deep pairs of tiles of a panel fit into the first cache, beside a strip that
	// passes; high such strips, and their sums in wide panels, into the second.
	deep, high, wide = 8, 8, 16
)

// view is a matrix whose element (i, j) is data[i*stride+j].
type view[T any] struct {
	rows, cols, stride int
	data               []T
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
	m := take(p.a.bytes() + p.b.bytes())
	defer m.release()
	p.left, p.right = m.bytes[:p.a.bytes()], m.bytes[p.a.bytes():]
	parallel.Ranges(p.a.strips, func(lo, hi int) {
		for strip := lo; strip < hi; strip++ {
			k.packStrip(p.left, p.a, a, strip)
		}
	})
	parallel.Ranges(p.b.strips, func(lo, hi int) {
		for panel := lo; panel < hi; panel++ {
			k.packPanel(p.right, p.b, b, panel)
		}
	})
	across := parts(p.b.strips, wide)
	parallel.Each(parts(p.a.strips, high)*across, func(i int) {
		p.block(i/across*high, i%across*wide)
	})
}

// block computes the sums of the next high strips and wide panels.
func (p *tiled[E, S]) block(strip, panel int) {
	m := take(high * wide * sumBytes)
	defer m.release()
	last, end := min(strip+high, p.a.strips), min(panel+wide, p.b.strips)
	for tile := 0; tile < p.tiles; tile += deep {
		for j := panel; j < end; j++ {
			next, nextTile := j+1, tile
			if next == end {
				next, nextTile = panel, min(tile+deep, p.tiles-1)
			}
			here := m.bytes[(j-panel)*high*sumBytes:]
			whole := strip
			if tile+deep >= p.tiles {
				whole = max(strip, min(last, p.whole(j)))
			}
			if whole > strip {
				to := (*byte)(unsafe.Pointer(&p.d.data[strip*width*p.d.stride+j*width]))
				p.run(here, to, 4*p.d.stride, strip, whole, j, tile, next, nextTile)
			}
			if whole < last {
				here = here[(whole-strip)*sumBytes:]
				p.run(here, &here[0], 4*width, whole, last, j, tile, next, nextTile)
			}
		}
	}
	for j := panel; j < end; j++ {
		for i := max(strip, min(last, p.whole(j))); i < last; i++ {
			at := &m.bytes[((j-panel)*high+i-strip)*sumBytes]
			p.store(i*width, j*width, unsafe.Slice((*S)(unsafe.Pointer(at)), width*width))
		}
	}
}

// whole returns the number of blocks of sums of a panel, from the first on,
// that the kernel stores in d.
func (p *tiled[E, S]) whole(panel int) int {
	if p.finish != nil || (panel+1)*width > p.d.cols {
		return 0
	}
	return p.d.rows / width
}

// run continues the sums of the strips [strip, last) and a panel by the pairs
// of tiles from tile on, at most deep of them.
func (p *tiled[E, S]) run(sums []byte, to *byte, ld, strip, last, panel, tile, next, nextTile int) {
	var from *byte
	if tile > 0 {
		from = &sums[0]
	}
	p.kernel.strips(from, to, ld, &p.left[p.a.from(strip, tile)], &p.right[p.b.from(panel, tile)],
		min(deep, p.tiles-tile), last-strip, &p.right[p.b.from(next, nextTile)])
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
	var end [64]E
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
	var some [64 * width]E
	column := panel * width
	cols := min(width, b.cols-column)
	size := int(unsafe.Sizeof(some[0]))
	for q := 0; q < l.tiles; q += deep {
		n, at, full := min(deep, l.tiles-q), l.from(panel, q), 0
		if cols == width {
			full = min(n, b.rows/k.terms-q)
		}
		if full > 0 {
			k.packRight(&dst[at], &b.data[q*k.terms*b.stride+column], b.stride*size, full)
		}
		for t := full; t < n; t++ {
			clear(some[:])
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
