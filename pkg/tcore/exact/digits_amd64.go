package exact

import (
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas/blas32"
)

// hasDigits reports whether the processor adds products of digits: AVX512-VNNI.
var hasDigits = cpu.X86.HasAVX512VNNI

// The blocking of sums of digits. Panels of the second factor have 8 columns; a
// tile has one or two of them. A chunk of a group of tiles of the first factor
// stays in the second-level cache and meets every pair of panels, whose chunks
// stay in the first-level cache.
const (
	digitBits    = 12  // of a digit in base 2^12
	digitRows    = 12  // of a tile
	digitTiles   = 4   // of a group
	digitDepth   = 252 // the most terms of a chunk
	digitStride  = 288 // from row to row of a chunk
	digitTile    = digitRows * columnsOfPanel
	digitQuad    = 4 * columnsOfPanel // digits of a quad of rows of a panel
	digitTerms   = 1 << 12            // that a word adds
	mostDigits   = 6
	placesOfWord = 3 // places of products whose sums have a common 64-bit word
)

// digits says how the elements of a matrix are stored: as integers of count
// digits in base 2^12, each with the sign of the element.
type digits struct {
	count int
	scale float32 // from an element to one with only its leading digit before the point
	mask  uint32  // of the bits of an element
}

// digitsOf returns the digits for the elements of a grid, or their magnitudes;
// ok is false if there are too many or the scale is not normal in binary32. The
// leading digit may be 2^12.
func digitsOf(g grid, p kind) (d digits, ok bool) {
	bits := g.bits()
	if frac, _ := math.Frexp(g.greatest); frac == 0.5 {
		bits--
	}
	d = digits{count: max(1, (bits+digitBits-1)/digitBits), mask: ^uint32(0)}
	if p == absolute {
		d.mask >>= 1
	}
	exp := -g.low - digitBits*(d.count-1)
	d.scale = float32(math.Ldexp(1, exp))
	return d, d.count <= mostDigits && -126 <= exp && exp <= 127
}

// digitProducts computes the products of the kinds in list by sums of products
// of digits, and reports whether it did. It does not if there is no kernel or
// the elements have too many digits.
//
// The product of digit i of an element of A and digit j of one of B weighs
// 2^(12(i+j)). Digits are at most 2^12 in magnitude, so that the sum of three
// places, 2^12 terms and at most 6 products in each is less than 2^63.
func digitProducts(e [kinds]Matrix, a, b blas32.General, ga, gb grid, list []kind) bool {
	if !hasDigits || vectorBits < 512 {
		return false
	}
	var x [kinds]digits
	var y [kinds]panels
	for _, p := range list {
		da, okA := digitsOf(ga, p)
		db, okB := digitsOf(gb, p)
		if !okA || !okB {
			return false
		}
		x[p], y[p] = da, digitPanels(b, db)
	}
	tiles := (a.Rows + digitRows - 1) / digitRows
	parallel.Ranges(tiles, func(lo, hi int) {
		var groups []*digitGroup
		for _, p := range list {
			groups = append(groups, newDigitGroup(e[p], x[p], y[p], min(digitTiles, hi-lo)))
		}
		for ; lo < hi; lo += digitTiles {
			first, last := lo*digitRows, min(hi, lo+digitTiles)*digitRows
			multiplyDigits(groups, matrix.Rows(a, first, min(last, a.Rows)), first)
		}
	})
	return true
}

// panels are the digits of a matrix in panels of 8 columns. The digits of a
// panel stand place by place, the leading one first; those of a place quad by
// quad of rows; those of a quad column by column.
type panels struct {
	digits
	data         []int16
	number       int // of panels
	place, panel int // lengths of a place and of a panel
}

// digitPanels returns the panels of b. Columns and rows beyond the last are
// zero.
func digitPanels(b blas32.General, d digits) panels {
	quads := (b.Rows + 3) / 4
	p := panels{digits: d, number: (b.Cols + columnsOfPanel - 1) / columnsOfPanel, place: quads * digitQuad}
	p.panel = d.count * p.place
	p.data = make([]int16, p.number*p.panel)
	parallel.Ranges(quads, func(lo, hi int) {
		var edge [digitQuad]float32
		for j := range p.number {
			whole := hi
			if (j+1)*columnsOfPanel > b.Cols {
				whole = lo
			} else if 4*hi > b.Rows {
				whole--
			}
			dst := p.data[j*p.panel:]
			if whole > lo {
				panelDigits(&dst[lo*digitQuad], 2*p.place, &b.Data[4*lo*b.Stride+j*columnsOfPanel], 4*b.Stride, whole-lo, d.scale, d.mask, d.count)
			}
			for q := whole; q < hi; q++ {
				clear(edge[:])
				for r := 4 * q; r < min(4*q+4, b.Rows); r++ {
					copy(edge[(r-4*q)*columnsOfPanel:][:columnsOfPanel], matrix.Row(b, r)[j*columnsOfPanel:])
				}
				panelDigits(&dst[q*digitQuad], 2*p.place, &edge[0], 4*columnsOfPanel, 1, d.scale, d.mask, d.count)
			}
		}
	})
	return p
}

// digitGroup multiplies a group of tiles of rows by panels.
type digitGroup struct {
	digits
	panels
	e     Matrix
	x     []int16   // a chunk of the rows: digits by tile, place, row and term
	words [][]int64 // sums by tile, panel, row and column, one word for three places
}

func newDigitGroup(e Matrix, d digits, p panels, tiles int) *digitGroup {
	g := &digitGroup{digits: d, panels: p, e: e, x: make([]int16, tiles*d.count*digitRows*digitStride)}
	places := d.count + p.count - 1
	g.words = make([][]int64, (places+placesOfWord-1)/placesOfWord)
	for i := range g.words {
		g.words[i] = make([]int64, tiles*p.number*digitTile)
	}
	return g
}

// multiplyDigits sets rows of products, from row i on, to the products of the
// rows of a.
func multiplyDigits(groups []*digitGroup, a blas32.General, i int) {
	chunks := (a.Cols + digitDepth - 1) / digitDepth
	depth := ((a.Cols+chunks-1)/chunks + 3) &^ 3
	for k, terms := 0, 0; k < a.Cols; k += depth {
		n := min(depth, a.Cols-k)
		terms += n
		full := terms+depth > digitTerms || k+n == a.Cols
		for _, g := range groups {
			for r := range a.Rows {
				g.pack(matrix.Row(a, r)[k:k+n], r)
			}
			g.addProducts(a.Rows, k, n)
			if full {
				g.flush(a.Rows, i)
			}
		}
		if full {
			terms = 0
		}
	}
}

// addProducts adds the products of n terms from k on.
func (g *digitGroup) addProducts(rows, k, n int) {
	for j := 0; j < g.number; j += 2 {
		for t := 0; t*digitRows < rows; t++ {
			g.addTile(t, j, k, (n+3)/4)
		}
	}
}

// flush adds the sums to the rows of e from i on.
func (g *digitGroup) flush(rows, i int) {
	size := g.number * digitTile
	for w, sums := range g.words {
		for t := 0; t*digitRows < rows; t++ {
			r := t * digitRows
			g.e.addTiles(sums[t*size:][:size], i+r, min(digitRows, rows-r), digitTile, w*placesOfWord*digitBits)
		}
	}
}

// pack stores the digits of a chunk x of row r.
func (g *digitGroup) pack(x []float32, r int) {
	place := digitRows * digitStride
	dst := g.x[r/digitRows*g.digits.count*place+r%digitRows*digitStride:]
	n := len(x) &^ 15
	if n > 0 {
		rowDigits(&dst[0], 2*place, &x[0], n, g.digits.scale, g.digits.mask, g.digits.count)
	}
	if n < len(x) {
		var edge [16]float32
		copy(edge[:], x[n:])
		rowDigits(&dst[n], 2*place, &edge[0], len(edge), g.digits.scale, g.digits.mask, g.digits.count)
	}
}

// addTile adds the products of a tile of rows and panels j and j+1, summed over
// quads of terms from k on.
func (g *digitGroup) addTile(t, j, k, quads int) {
	run := digitSums16
	if j+1 == g.number {
		run = digitSums8
	}
	place := digitRows * digitStride
	for u := range g.digits.count {
		x := &g.x[(t*g.digits.count+u)*place]
		for v := range g.panels.count {
			y := &g.data[j*g.panel+v*g.place+k/4*digitQuad]
			weight := g.digits.count - 1 - u + g.panels.count - 1 - v
			c := &g.words[weight/placesOfWord][(t*g.number+j)*digitTile]
			run(c, x, 2*digitStride, y, 2*g.panel, quads, 1<<(weight%placesOfWord*digitBits))
		}
	}
}
