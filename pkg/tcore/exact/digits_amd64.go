package exact

import (
	"math"
	"sync/atomic"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

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

// digitProduct computes products of the kinds in list by sums of products of
// digits.
//
// The product of digit i of an element of A and digit j of one of B weighs
// 2^(12(i+j)). Digits are at most 2^12 in magnitude, so that the sum of three
// places, 2^12 terms and at most 6 products in each is less than 2^63.
type digitProduct struct {
	list     []kind
	b        blas32.General
	grid     grid             // of b
	sumBits  func(a grid) int // of sums of products: see bitsOfSum
	dense    grid             // of the elements of b that are in panels
	outliers []outlier
	panels   [kinds]panels
	ok       bool // there is a kernel, and elements of b have few enough digits
}

// takeDigits reports whether products of a by b, the elements of which have a
// grid, take digits, as far as leading rows of a tell. With AVX2 a product of
// two pairs of digits takes about the time of one of integers, and elements of
// a are also converted, which is worthwhile for many columns, or if it is done
// once for two products or with a conversion that there is.
func takeDigits(a factor, b blas32.General, g grid, list []kind) bool {
	if vectorDigits == 512 {
		return true
	}
	lead := a
	lead.Rows = min(a.Rows, 1+4*sampleSize/a.Cols)
	lead = factor{General: lead.converted()}
	of, err := gridOf("a", lead)
	if err != nil || vectorDigits == 0 {
		return false
	}
	count := func(m factor, g grid) int {
		rows := make([][]float32, m.Rows)
		for i := range rows {
			rows[i] = m.part(nil, i, 0, m.Cols)
		}
		dense, _ := denseGrid(g, rows)
		d, _ := digitsOf(dense, signed)
		return d.count
	}
	products := count(lead, of) * count(factor{General: b}, g)
	return !hasIntegerSums(of, g) || products <= 2 ||
		products <= 4 && (b.Cols >= 64 || a.convert != nil || len(list) > 1)
}

// newDigitProduct prepares products by b, the elements of which have a grid.
func newDigitProduct(b blas32.General, g grid, sumBits func(a grid) int, list []kind) digitProduct {
	p := digitProduct{list: list, b: b, grid: g, sumBits: sumBits, dense: g, ok: vectorDigits > 0}
	if !p.ok {
		return p
	}
	b = p.setApart(b)
	for _, kind := range list {
		d, few := digitsOf(p.dense, kind)
		if p.ok = p.ok && few; p.ok {
			p.panels[kind] = digitPanels(b, d)
		}
	}
	return p
}

// setApart sets the outliers of b apart and returns b without them.
func (p *digitProduct) setApart(b blas32.General) blas32.General {
	all, z := b.Data, matrix.New(b.Rows, b.Cols)
	if b.Stride != b.Cols {
		all = matrix.Map(b, func(x float32) float32 { return x }).Data
	}
	rows := [][]float32{all[:len(z.Data)]}
	p.dense, p.outliers = withoutOutliers(p.grid, rows, [][]float32{z.Data})
	for i, x := range p.outliers {
		p.outliers[i] = outlier{x.col / b.Cols, x.col % b.Cols, x.value}
	}
	z.Data = rows[0]
	return z
}

// inOnePass returns the products of a by b; ok is false if a row has no digits
// or the sums need more than 64 bits. Groups of rows are converted, and their
// grid is found, while they are in the second-level cache. Sums are first in
// units of the group's grid.
func (p digitProduct) inOnePass(a factor) (e [kinds]Matrix, ok bool) {
	if !p.ok {
		return e, false
	}
	z := Matrix{rows: a.Rows, cols: p.panels[p.list[0]].cols, exp: p.grid.low, limbs: 1}
	e = z.zeros(p.list)
	grids := make([]grid, a.Rows) // of the group that begins at a row
	for i := range grids {
		grids[i] = noGrid
	}
	if !p.multiply(e, a, nil, grids) {
		return e, false
	}
	total := noGrid
	for _, g := range grids {
		total = total.union(g)
	}
	if p.sumBits(total) > 64 {
		return e, false
	}
	if total == noGrid { // all zeros
		return e, true
	}
	shift := 0
	for i, g := range grids {
		if g != noGrid {
			shift = g.low - total.low
		}
		for _, kind := range p.list {
			e[kind].shiftRows(i, i+1, shift)
		}
	}
	for _, kind := range p.list {
		e[kind].exp += total.low
	}
	return e, true
}

// onGrid computes the products e of a, the elements of which have a grid, by b,
// and reports whether it did.
func (p digitProduct) onGrid(e [kinds]Matrix, a factor, g grid) bool {
	return p.ok && p.multiply(e, a, &g, make([]grid, a.Rows))
}

// multiply computes the products e of a, on the known grid or on one for every
// group of tiles, which it stores in grids. It reports whether it did.
func (p digitProduct) multiply(e [kinds]Matrix, a factor, known *grid, grids []grid) bool {
	var failed atomic.Bool
	parallel.Ranges((a.Rows+digitRows-1)/digitRows, func(lo, hi int) {
		var groups []*digitGroup
		for _, kind := range p.list {
			groups = append(groups, &digitGroup{kind: kind, panels: p.panels[kind], e: e[kind]})
		}
		rows := make([]float32, min(digitTiles*digitRows, a.Rows)*min(digitTerms, a.Cols))
		for ; lo < hi && !failed.Load(); lo += digitTiles {
			first, last := lo*digitRows, min(min(hi, lo+digitTiles)*digitRows, a.Rows)
			var ok bool
			if grids[first], ok = p.multiplyRows(e, groups, a, known, rows, first, last); !ok {
				failed.Store(true)
			}
		}
	})
	return !failed.Load()
}

// multiplyRows sets rows first to last of the products e, which are those of
// groups, and returns their grid: the known one, or one that contains these
// rows of a, if ok. buffer is memory for digitTerms terms of these rows.
func (p digitProduct) multiplyRows(e [kinds]Matrix, groups []*digitGroup, a factor, known *grid, buffer []float32, first, last int) (total grid, ok bool) {
	total = noGrid
	rows, dense := make([][]float32, last-first), make([][]float32, last-first)
	for lo := 0; lo < a.Cols; lo += digitTerms {
		hi, free := min(lo+digitTerms, a.Cols), buffer
		g := noGrid
		for r := range rows {
			rows[r] = a.part(free, first+r, lo, hi)
			dense[r], free = free[:hi-lo], free[hi-lo:]
			if known == nil {
				row, nonFinite := gridOfRow(rows[r])
				if nonFinite >= 0 {
					return total, false
				}
				g = g.union(row)
			}
		}
		if known != nil {
			g = *known
		}
		if g == noGrid { // all zeros
			continue
		}
		before := total
		total = total.union(g)
		if known == nil && p.sumBits(total) > 64 {
			return total, false
		}
		g, outliers := withoutOutliers(g, rows, dense)
		for _, group := range groups {
			if !group.begin(g, len(rows)) {
				return total, false
			}
			if before != noGrid {
				group.e.shiftRows(first, last, before.low-total.low)
			}
		}
		addTerms(groups, rows, lo, hi)
		for _, group := range groups {
			group.flush(len(rows), first, g.low-total.low+p.dense.low-p.grid.low)
		}
		p.addOutliers(e, first, lo, hi, rows, outliers, total.low)
	}
	return total, true
}

// addTerms adds to the sums of groups the products of the terms lo to hi, which
// rows are.
func addTerms(groups []*digitGroup, rows [][]float32, lo, hi int) {
	chunks := (hi - lo + digitDepth - 1) / digitDepth
	depth := ((hi-lo+chunks-1)/chunks + 3) &^ 3
	for k := lo; k < hi; k += depth {
		n := min(depth, hi-k)
		for _, group := range groups {
			for r, x := range rows {
				group.pack(x[k-lo:k-lo+n], r)
			}
			group.addProducts(len(rows), k, n)
		}
	}
}

// shiftRows multiplies rows first to last of e, of one limb, by 2^shift.
func (e Matrix) shiftRows(first, last, shift int) {
	if shift > 0 {
		for i := range e.data[first*e.cols : last*e.cols] {
			e.data[first*e.cols+i] <<= shift
		}
	}
}

// panels are the digits of a matrix in panels of 8 columns. The digits of a
// panel stand place by place, the leading one first; those of a place quad by
// quad of rows; those of a quad column by column.
type panels struct {
	digits
	data         []int16
	cols, number int // of columns and of panels
	place, panel int // lengths of a place and of a panel
}

// digitPanels returns the panels of b. Columns and rows beyond the last are
// zero.
func digitPanels(b blas32.General, d digits) panels {
	quads := (b.Rows + 3) / 4
	p := panels{digits: d, cols: b.Cols, number: (b.Cols + columnsOfPanel - 1) / columnsOfPanel, place: quads * digitQuad}
	p.panel = d.count * p.place
	p.data = make([]int16, p.number*p.panel)
	const block = 16 // quads whose rows stay in the second-level cache
	parallel.Ranges((quads+block-1)/block, func(lo, hi int) {
		var edge [block * digitQuad]float32
		for q := lo * block; q < min(hi*block, quads); q += block {
			n := min(block, quads-q)
			rows := matrix.Rows(b, 4*q, min(4*(q+n), b.Rows))
			for j := range p.number {
				src, stride := rows.Data[j*columnsOfPanel:], rows.Stride
				if (j+1)*columnsOfPanel > b.Cols || rows.Rows < 4*n {
					clear(edge[:])
					for r := range rows.Rows {
						copy(edge[r*columnsOfPanel:][:columnsOfPanel], matrix.Row(rows, r)[j*columnsOfPanel:])
					}
					src, stride = edge[:], columnsOfPanel
				}
				panelDigits(p.data[j*p.panel+q*digitQuad:], p.place, src, stride, n, d)
			}
		}
	})
	return p
}

// digitGroup multiplies a group of tiles of rows by panels.
type digitGroup struct {
	digits
	panels
	kind
	e     Matrix
	x     []int16   // a chunk of the rows: digits by tile, place, row and term
	words [][]int64 // sums by tile, panel, row and column, one word for three places
}

// begin prepares a group of rows with elements of a grid; ok is false if these
// have no digits. No group has more rows than the first.
func (g *digitGroup) begin(of grid, rows int) (ok bool) {
	if g.digits, ok = digitsOf(of, g.kind); !ok {
		return false
	}
	tiles := (rows + digitRows - 1) / digitRows
	if n := tiles * g.digits.count * digitRows * digitStride; len(g.x) < n {
		g.x = make([]int16, n)
	}
	places := g.digits.count + g.panels.count - 1
	for len(g.words)*placesOfWord < places {
		g.words = append(g.words, make([]int64, tiles*g.number*digitTile))
	}
	return true
}

// addProducts adds the products of n terms from k on.
func (g *digitGroup) addProducts(rows, k, n int) {
	for j := 0; j < g.number; j += 2 {
		for t := 0; t*digitRows < rows; t++ {
			g.addTile(t, min(digitRows, rows-t*digitRows), j, k, (n+3)/4)
		}
	}
}

// flush adds 2^shift times the sums to the rows of e from i on.
func (g *digitGroup) flush(rows, i, shift int) {
	size := g.number * digitTile
	for w, sums := range g.words {
		for t := 0; t*digitRows < rows; t++ {
			r := t * digitRows
			g.e.addTiles(sums[t*size:][:size], i+r, min(digitRows, rows-r), digitTile, w*placesOfWord*digitBits+shift)
		}
	}
}

// pack stores the digits of a chunk x of row r.
func (g *digitGroup) pack(x []float32, r int) {
	place := digitRows * digitStride
	dst := g.x[r/digitRows*g.digits.count*place+r%digitRows*digitStride:]
	n := len(x) &^ 15
	if n > 0 {
		rowDigits(dst, place, x[:n], g.digits)
	}
	if n < len(x) {
		var edge [16]float32
		copy(edge[:], x[n:])
		rowDigits(dst[n:], place, edge[:], g.digits)
	}
}

// addTile adds the products of the leading rows of a tile, at least, and panels
// j and j+1, summed over quads of terms from k on.
func (g *digitGroup) addTile(t, rows, j, k, quads int) {
	place := digitRows * digitStride
	for u := range g.digits.count {
		x := g.x[(t*g.digits.count+u)*place:]
		for v := range g.panels.count {
			y := g.data[j*g.panel+v*g.place+k/4*digitQuad:]
			weight := g.digits.count - 1 - u + g.panels.count - 1 - v
			c := g.words[weight/placesOfWord][(t*g.number+j)*digitTile:]
			digitSums(c, x, y, rows, min(2, g.number-j), g.panel, quads, 1<<(weight%placesOfWord*digitBits))
		}
	}
}
