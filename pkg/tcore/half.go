package tcore

import (
	"math"
	"runtime"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// halfKernel continues a tile of rows × columns sums s = fl16(s + xy), exact
// products in binary16, in the order of the terms. Its operands are words of
// its own: pack stores n elements of a row of A in a word each, and packPanel
// the columns of k rows, stride bytes apart, in width words for each row.
// run returns false, and leaves c as it is, if sums are infinite and it cannot
// compute them. Strides are in bytes. Sums below least take the kernel long.
type halfKernel struct {
	rows, columns, width int
	pack                 func(dst *uint32, src *float32, n int)
	packPanel            func(dst *uint32, src *float32, stride, k int)
	run                  func(c *float32, ldc int, a *uint32, lda int, b *uint32, k int) bool
	path                 *path
	least                float32
}

// The ways to compute sums in binary16.
var (
	halfFMAPath  = newPath("binary16 sums by binary16 FMA")
	halfSumsPath = newPath("binary16 sums by binary32 FMA")
	halfSlowPath = newPath("binary16 sums one by one")
)

// halfDepth is the number of terms that a kernel adds at a time, a chunk, and
// halfStride the words between two rows of A in one chunk.
const (
	halfDepth  = 512
	halfStride = halfDepth + 16
)

// halfProduct is a product on a [TensorCore] or [Chain] that sums in binary16.
// If transposed, it is computed as (BᵀAᵀ)ᵀ, the same sums of the same products.
type halfProduct struct {
	tiling     // k is whole blocks
	kernel     halfKernel
	b          blas32.General // the factor of which panels are made, or its transpose
	transposed bool
	x          []uint32 // whole groups of rows, one chunk after the other
	y          []uint32 // panels, likewise; nil if each part of a product packs its own
}

// halfScratch recycles the memory of finished products.
var halfScratch struct {
	x, y         scratch[uint32]
	sums, floats scratch[float32]
	wide         scratch[float64]
}

// newHalfProduct prepares a product on a device whose Core adds binary16
// products in binary16, with factors that the device rounds to nearest even.
// It returns false for others, for a C in another format than binary16, which
// the core may add unrounded, and if there is no kernel.
func newHalfProduct(d *Device, a, b blas32.General, started bool) (prepared, bool) {
	if !d.addsInBinary16() || !d.A.Equal(Binary16) || !d.B.Equal(Binary16) || d.Convert != ToNearestEven ||
		started && !d.C.Equal(Binary16) {
		return nil, false
	}
	kernel, ok := halfKernelFor()
	if !ok {
		return nil, false
	}
	p := &halfProduct{kernel: kernel, b: b, tiling: tiling{a.Rows, b.Cols, d.padded(a.Cols), kernel.rows, kernel.columns, halfDepth}}
	if 2*b.Cols <= kernel.columns && a.Rows > b.Cols {
		p.transposed, p.b, p.m, p.n, a = true, a, b.Cols, a.Rows, matrix.Transpose(b)
	}
	loops := []parallel.Loop{p.packRows(a)}
	if cores := runtime.GOMAXPROCS(0); cores > 1 && p.groups() >= cores && !p.wide() { // parts are groups
		loops = append(loops, p.packPanels())
	}
	parallel.Loops(loops...)
	return p, true
}

// addsInBinary16 reports whether each product, exact, is added by one rounding
// to binary16: an FMA.
func (d *Device) addsInBinary16() bool {
	switch core := d.Core.(type) {
	case TensorCore:
		return core.isSequential16()
	case Chain:
		return d.C.Equal(Binary16)
	}
	return false
}

func (p *halfProduct) release() {
	halfScratch.x.put(p.x)
	if p.y != nil {
		halfScratch.y.put(p.y)
	}
}

// padded returns the number of rows in whole groups.
func (p *halfProduct) padded() int { return p.groups() * p.rows }

// row returns the words of row i in the chunk of the term lo.
func (p *halfProduct) row(i, lo int) []uint32 {
	return p.x[(lo/halfDepth*p.padded()+i)*halfStride:][:halfStride]
}

// packRows returns the loop that packs the rows.
func (p *halfProduct) packRows(a blas32.General) parallel.Loop {
	p.x = halfScratch.x.get(p.chunks() * p.padded() * halfStride)
	return parallel.Loop{N: p.padded(), Work: func(lo, hi int) {
		const lanes = 16
		var rest [lanes]float32
		for i := lo; i < hi; i++ {
			for k := 0; k < p.k; k += halfDepth {
				x := p.row(i, k)
				if i >= p.m {
					clear(x)
					continue
				}
				src := matrix.Row(a, i)[min(k, a.Cols):min(k+halfDepth, a.Cols)]
				n := len(src) &^ (lanes - 1)
				if n > 0 {
					p.kernel.pack(&x[0], &src[0], n)
				}
				clear(rest[copy(rest[:], src[n:]):])
				p.kernel.pack(&x[n], &rest[0], lanes)
			}
		}
	}}
}

// packPanels returns the loop that packs all panels.
func (p *halfProduct) packPanels() parallel.Loop {
	p.y = halfScratch.y.get(p.chunks() * p.panels() * p.panelWords())
	return parallel.Loop{N: p.panels(), Work: func(lo, hi int) {
		floats := halfScratch.floats.get(halfDepth * p.columns)
		defer halfScratch.floats.put(floats)
		for panel := lo; panel < hi; panel++ {
			for k := 0; k < p.k; k += halfDepth {
				p.packPanel(p.panel(panel, k), floats, panel*p.columns, k, min(halfDepth, p.k-k))
			}
		}
	}}
}

// panelWords is the number of words of a chunk of a panel.
func (p *halfProduct) panelWords() int { return halfDepth * p.kernel.width }

// panel returns the words of a panel in the chunk of the term lo.
func (p *halfProduct) panel(panel, lo int) []uint32 {
	return p.y[(lo/halfDepth*p.panels()+panel)*p.panelWords():][:p.panelWords()]
}

// addTo stores C + AB in z, a few panels at a time.
func (p *halfProduct) addTo(c, z blas32.General) {
	const few = 4
	p.parts(func(groupLo, groupHi, panelLo, panelHi int) {
		firstRow, size := groupLo*p.rows, (groupHi-groupLo)*p.rows*p.columns
		sums := halfScratch.sums.get(few * size)
		defer halfScratch.sums.put(sums)
		var packed []uint32
		var floats []float32
		if p.y == nil {
			packed, floats = halfScratch.y.get(few*p.panelWords()), halfScratch.floats.get(halfDepth*p.columns)
			defer halfScratch.y.put(packed)
			defer halfScratch.floats.put(floats)
		}
		var y [few][]uint32
		for ; panelLo < panelHi; panelLo += few {
			n := min(few, panelHi-panelLo)
			for q := range n {
				p.load(sums[q*size:][:size], c, firstRow, (panelLo+q)*p.columns)
			}
			for k := 0; k < p.k; k += halfDepth {
				for q := range n {
					if p.y != nil {
						y[q] = p.panel(panelLo+q, k)
						continue
					}
					y[q] = packed[q*p.panelWords():][:p.panelWords()]
					p.packPanel(y[q], floats, (panelLo+q)*p.columns, k, min(halfDepth, p.k-k))
				}
				p.addChunk(sums, firstRow, size, y[:n], panelLo, k)
			}
			for q := range n {
				p.store(z, sums[q*size:][:size], firstRow, (panelLo+q)*p.columns)
			}
		}
	})
}

// addChunk adds the chunk of the term k to the sums of a few panels y, the
// given one and those after it. A panel has size sums, from the given row on.
func (p *halfProduct) addChunk(sums []float32, firstRow, size int, y [][]uint32, panel, k int) {
	kernel, n := p.kernel, min(halfDepth, p.k-k)
	greatest := kernel.least // greatest magnitude in the last tile
	wide := make([][][tile]float64, len(y))
	for i := firstRow; i < min(firstRow+size/p.columns, p.m); i += p.rows {
		x := p.row(i, k)
		for q, yq := range y {
			s, path := sums[q*size+(i-firstRow)*p.columns:][:p.rows*p.columns], kernel.path
			if greatest < kernel.least || !kernel.run(&s[0], 4*p.columns, &x[0], 4*halfStride, &yq[0], n) {
				if wide[q] == nil {
					wide[q] = p.widen(yq, n)
				}
				p.addSlowly(s, i, k, wide[q], n)
				path = halfSlowPath
			}
			path.count(min(p.rows, p.m-i), n, min(p.columns, p.n-(panel+q)*p.columns))
			if kernel.least > 0 {
				greatest = greatestOf(s)
			}
		}
	}
}

// packPanel stores the words of the terms [k, k+n) of the panel that begins
// with column j in y. floats is memory for a panel that is not complete.
func (p *halfProduct) packPanel(y []uint32, floats []float32, j, k, n int) {
	columns := p.columns
	width := min(columns, p.n-j)
	if !p.transposed && width == columns && k+n <= p.b.Rows {
		p.kernel.packPanel(&y[0], &p.b.Data[k*p.b.Stride+j], 4*p.b.Stride, n)
		return
	}
	clear(floats[:n*columns])
	if p.transposed {
		const line = 16 // elements that are read at once
		for l := 0; l < min(n, p.b.Cols-k); l += line {
			for r := range width {
				for i, v := range matrix.Row(p.b, j+r)[k+l : min(k+l+line, k+n, p.b.Cols)] {
					floats[(l+i)*columns+r] = v
				}
			}
		}
	} else {
		for l := range min(k+n, p.b.Rows) - k {
			copy(floats[l*columns:][:width], matrix.Row(p.b, k+l)[j:])
		}
	}
	p.kernel.packPanel(&y[0], &floats[0], 4*columns, n)
}

// load stores C, rounded to binary16, in sums of the panel that begins with
// column j, from row i on, or zeros if there is no c.
func (p *halfProduct) load(sums []float32, c blas32.General, i, j int) {
	clear(sums)
	if c.Data == nil {
		return
	}
	p.eachRow(sums, i, j, func(i int, row []float32) {
		if p.transposed {
			for r := range row {
				row[r] = c.Data[(j+r)*c.Stride+i]
			}
		} else {
			copy(row, matrix.Row(c, i)[j:])
		}
		roundRow(row, row, Binary16)
	})
}

// store stores sums of the panel that begins with column j, from row i on, in
// z.
func (p *halfProduct) store(z blas32.General, sums []float32, i, j int) {
	p.eachRow(sums, i, j, func(i int, row []float32) {
		if p.transposed {
			for r, v := range row {
				z.Data[(j+r)*z.Stride+i] = v
			}
		} else {
			copy(matrix.Row(z, i)[j:], row)
		}
	})
}

// eachRow calls f for the part in the product of each row of sums of a panel.
func (p *halfProduct) eachRow(sums []float32, i, j int, f func(i int, row []float32)) {
	width := min(p.columns, p.n-j)
	for ; len(sums) > 0 && i < p.m; i++ {
		f(i, sums[:width])
		sums = sums[p.columns:]
	}
}

// greatestOf returns the greatest magnitude in x, NaN aside.
func greatestOf(x []float32) float32 {
	bits := uint32(0)
	for _, v := range x {
		if b := math.Float32bits(v) &^ signBit32; b <= infinity32 {
			bits = max(bits, b)
		}
	}
	return math.Float32frombits(bits)
}

// halfScale is the inverse of the factor that the words of kernels with a slow
// way have.
const halfScale = 0x1p56

// widen returns the numbers of n rows of the panel y in tiles.
func (p *halfProduct) widen(y []uint32, n int) [][tile]float64 {
	columns := p.columns
	z := make([][tile]float64, columns/tile*n)
	for i := range z {
		for c, w := range y[i%n*columns+i/n*tile:][:tile] {
			z[i][c] = float64(math.Float32frombits(w)) * halfScale
		}
	}
	return z
}

// addSlowly adds n terms from k on to a tile of sums from row i on, without the
// kernel.
func (p *halfProduct) addSlowly(sums []float32, i, k int, y [][tile]float64, n int) {
	rows, columns := p.rows, p.columns
	x := halfScratch.wide.get(n)
	defer halfScratch.wide.put(x)
	for r := range rows {
		for l, w := range p.row(i+r, k)[:n] {
			x[l] = float64(math.Float32frombits(w)) * halfScale
		}
		for j := 0; j < columns; j += tile {
			var s [tile]float64
			c := sums[r*columns+j:][:tile]
			widenSlice(s[:], c)
			continue16(&s, x, y[j/tile*n:][:n])
			for l, v := range s {
				c[l] = float32(v)
			}
		}
	}
}
