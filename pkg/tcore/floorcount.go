package tcore

import (
	"slices"
	"sync/atomic"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// floorCountKernel computes the [Fused] sums of short factors, of e4m3 or e5m2,
// with few fraction bits: it adds products that are rounded down, and counts
// those that are negative and not exact. run adds to a tile of rows × columns
// sums, whose rows are ldc bytes apart, the products of a group of rows and a
// panel of columns in blocks of terms. half is run for sums that are rounded to
// binary16; it returns a value other than 0 if a sum is not finite. The others
// pack the n terms of a row, and k terms of a panel whose rows are stride bytes
// apart. They return a value other than 0 if a number is not finite.
type floorCountKernel struct {
	rows, columns int
	run           func(c *float32, ldc int, a *uint32, b *uint8, blocks, terms int, p *uint32)
	half          func(c *float32, ldc int, a *uint32, b *uint8, blocks, terms int, p *uint32) uint64
	packRow       func(dst *uint32, planes int, src *float32, n int, p *uint32) uint64
	packColumns   func(dst *uint8, src *float32, stride int, k int, p *uint32) uint64
}

// The memory of a floorCountKernel. The terms of a chunk of a group of rows are
// in three planes: their numbers, exponents and places, row by row, in words.
// Each term of a panel has its numbers, and then exponents and places in bytes.
// The columns of a chunk stay in the cache for the calls with all groups.
const (
	floorCountDepth  = 64
	floorCountPlanes = 3
	floorCountBytes  = 6 // of an element of a panel
)

// The exponents in bytes are E + floorCountBias for A, E + floorCountBias + 1
// for B, and so E + 127 for products and for c. That of a zero is 0, and the
// sum of a zero and a factor less than that of all products and of all c.
const floorCountBias = 63

// floorCountPlaces is the place of the last one bit of a zero. It is greater
// than all places of products, counted from the least one.
const floorCountPlaces = 63

// floorCountLeast and floorCountMost limit the magnitude of a nonzero c that is
// given: c and the sums are numbers that the kernel can align.
const (
	floorCountLeast = 0x1p-40
	floorCountMost  = 0x1p100
)

// floorCountConstants contains the constants of run: masks and bits of binary32
// numbers, and bytes, each four times.
type floorCountConstants struct {
	bytes   [4]uint32 // masks of the bytes of a word
	up      uint32    // 23 - F
	offset  uint32    // the exponent E, with bias, of which 2^(E-F) is the product of the least numbers
	places  uint32    // floorCountPlaces
	signs   uint32    // 128
	field   uint32    // mask of the exponent field
	quarter uint32    // this bit beside the bits of 2^E gives those of 1.5 × 2^E
	binade  uint32    // mask of sign and exponent field
	sign    uint32    // mask of the sign
	kept    uint32    // mask of the bits of a result that truncation keeps
	normal  uint32    // exponent of the least normal number of binary16
	zero    uint32    // exponent of a zero c, in binary16

	infinity uint32
	none     uint32 // 0
	mxcsr    uint32 // the MXCSR control word for rounding down
}

// floorCountFormat contains the constants of packRow and packColumns.
type floorCountFormat struct {
	emin      uint32    // Emin, with the bias of binary32
	bias      uint32    // this bias less that of the exponents in bytes
	least     uint32    // place 0
	magnitude uint32    // mask of all bits but the sign
	mantissa  uint32    // mask of the bits of the significand but the first
	first     uint32    // the bit after those
	places    uint32    // floorCountPlaces
	high      uint32    // 128
	finite    uint32    // bits of the greatest finite number
	copies    [4]uint32 // indices that copy the low byte of a word to all four
}

// fourBytes returns a word of four times the byte x.
func fourBytes(x int) uint32 { return uint32(uint8(x)) * 0x01010101 }

func newFloorCountConstants(d *Device, f *Fused) floorCountConstants {
	return floorCountConstants{
		bytes:    [4]uint32{0xff, 0xff00, 0xff0000, 0xff000000},
		up:       fourBytes(23 - f.FractionBits),
		offset:   fourBytes(127 + f.FractionBits + d.A.minQuantum() + d.B.minQuantum()),
		places:   fourBytes(floorCountPlaces),
		signs:    fourBytes(128),
		field:    infinity32,
		quarter:  1 << 22,
		binade:   signBit32 | infinity32,
		sign:     signBit32,
		kept:     ^(1<<(Binary32.Precision-f.Result.Precision) - 1),
		normal:   fourBytes(127 + Binary16.Emin),
		zero:     fourBytes(max(0, 127+f.ZeroExponent)),
		infinity: infinity32,
		mxcsr:    0x3f80, // round down, all exceptions masked
	}
}

func newFloorCountFormat(f Format, bias int) floorCountFormat {
	return floorCountFormat{
		emin:      uint32(127 + f.Emin),
		bias:      uint32(127 - bias),
		least:     uint32(127 + 127 + 23 + f.minQuantum()),
		magnitude: signBit32 - 1,
		mantissa:  1<<23 - 1,
		first:     1 << 23,
		places:    floorCountPlaces,
		high:      128,
		finite:    infinity32 - 1,
		copies:    [4]uint32{0, 0x04040404, 0x08080808, 0x0c0c0c0c},
	}
}

// floorCountKernel returns the kernel that computes the sums of f on d. It
// returns false if there is none.
func (f *Fused) floorCountKernel(d *Device) (k floorCountKernel, ok bool) {
	places := func(f Format) int { return f.Emax - f.minQuantum() }
	leastUnit := d.A.Emin + d.B.Emin - f.FractionBits
	zeroTerm := max(d.A.Emax, d.B.Emax+1) + floorCountBias - 127
	switch {
	case f.Group > 0 || d.ScaleBlock > 0 || d.A.Precision+d.B.Precision > Binary32.Precision:
		return k, false
	case min(d.A.Emin, d.B.Emin) <= -floorCountBias || zeroTerm >= min(leastUnit, -40):
		return k, false
	case places(d.A)+places(d.B) >= floorCountPlaces:
		return k, false
	case f.Terms%2 > 0 || f.Terms > floorCountDepth || floorCountDepth%f.Terms > 0:
		return k, false
	case 4*f.Terms+3 > 1<<max(0, 22-f.FractionBits): // terms and c below 2^(E*+2), and Terms units
		return k, false
	}
	if _, ok := f.dotAddKernel(d, false); !ok { // which computes what this kernel does not
		return k, false
	}
	return floorCountKernelFor()
}

// floorCountProduct is a matrix product computed by a floorCountKernel, with
// its operands prepared. Tiles with numbers out of its range are computed by a
// dotAdd.
type floorCountProduct struct {
	d      *Device
	f      Fused
	a, b   blas32.General
	kernel floorCountKernel
	tiling tiling
	x      []uint32 // groups of A, chunk by chunk
	y      []uint8  // panels of B
	rareX  []bool   // whether a group contains an infinity or NaN
	rareY  []bool   // whether a panel does
	rare   int      // tiles of such a group or panel

	constants floorCountConstants
}

// floorCountPath counts the multiply-adds of tiles that the kernel computed.
var floorCountPath = newPath("floor and count")

// floorCountScratch recycles the memory of finished products.
var floorCountScratch struct {
	x    scratch[uint32]
	y    scratch[uint8]
	rows scratch[float32]
}

// newFloorCountProduct prepares a and b. It returns false if there is no kernel
// for d, or if another method is faster: for a single row, or if most tiles
// contain an infinity or NaN.
func newFloorCountProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	f, ok := d.Core.(Fused)
	if !ok {
		return nil, false
	}
	kernel, ok := f.floorCountKernel(d)
	if !ok || a.Rows == 1 {
		return nil, false
	}
	p := &floorCountProduct{d: d, f: f, a: a, b: b, kernel: kernel, constants: newFloorCountConstants(d, &f),
		tiling: tiling{m: a.Rows, n: b.Cols, k: d.padded(a.Cols), rows: kernel.rows, columns: kernel.columns, depth: floorCountDepth}}
	groups, panels := p.tiling.groups(), p.tiling.panels()
	rare := make([]atomic.Bool, panels)
	parallel.Loops(p.packRows(), p.packColumns(rare))
	p.rareY = make([]bool, panels)
	for j := range rare {
		p.rareY[j] = rare[j].Load()
	}
	x, y := trues(p.rareX), trues(p.rareY)
	p.rare = x*panels + y*groups - x*y
	if 2*p.rare > groups*panels {
		p.release()
		return nil, false
	}
	return p, true
}

// trues returns how many of x are true.
func trues(x []bool) (n int) {
	for _, v := range x {
		if v {
			n++
		}
	}
	return n
}

func (p *floorCountProduct) release() {
	floorCountScratch.x.put(p.x)
	floorCountScratch.y.put(p.y)
}

// group returns the chunk of a group of rows that begins with term lo.
func (p *floorCountProduct) group(group, lo int) []uint32 {
	size := floorCountPlanes * p.kernel.rows * floorCountDepth
	return p.x[(lo/floorCountDepth*p.tiling.groups()+group)*size:][:size]
}

// panel returns the terms of a panel from lo on.
func (p *floorCountProduct) panel(panel, lo int) []uint8 {
	return p.y[(panel*p.tiling.k+lo)*floorCountBytes*p.kernel.columns:]
}

// packRows returns the loop that packs the groups of rows.
func (p *floorCountProduct) packRows() parallel.Loop {
	t, format := p.tiling, newFloorCountFormat(p.d.A, floorCountBias)
	p.x = floorCountScratch.x.get(t.groups() * t.chunks() * floorCountPlanes * t.rows * floorCountDepth)
	p.rareX = make([]bool, t.groups())
	return parallel.Loop{N: t.groups(), Work: func(lo, hi int) {
		row := floorCountScratch.rows.get(t.chunks() * floorCountDepth)
		defer floorCountScratch.rows.put(row)
		for g := lo; g < hi; g++ {
			for r := range t.rows {
				clear(row[p.a.Cols:])
				if i := g*t.rows + r; i < t.m {
					p.d.convertRow(row[:p.a.Cols], matrix.Row(p.a, i), p.d.A)
				} else {
					clear(row)
				}
				for k := 0; k < t.k; k += floorCountDepth {
					rare := p.kernel.packRow(&p.group(g, k)[r*floorCountDepth], 4*t.rows*floorCountDepth, &row[k], floorCountDepth, &format.emin)
					p.rareX[g] = p.rareX[g] || rare != 0
				}
			}
		}
	}}
}

// packColumns returns the loop that packs the chunks of all panels, and sets
// rare for a panel that contains an infinity or NaN.
func (p *floorCountProduct) packColumns(rare []atomic.Bool) parallel.Loop {
	t, format := p.tiling, newFloorCountFormat(p.d.B, floorCountBias+1)
	p.y = floorCountScratch.y.get(t.panels() * t.k * floorCountBytes * t.columns)
	return parallel.Loop{N: t.chunks(), Work: func(first, end int) {
		rows := floorCountScratch.rows.get(floorCountDepth * t.stride())
		defer floorCountScratch.rows.put(rows)
		for lo := first * floorCountDepth; lo < min(end*floorCountDepth, t.k); lo += floorCountDepth {
			n := min(floorCountDepth, t.k-lo)
			for k := range n {
				row := rows[k*t.stride():][:t.stride()]
				if lo+k >= p.b.Rows {
					clear(row)
					continue
				}
				p.d.convertRow(row[:t.n], matrix.Row(p.b, lo+k), p.d.B)
				clear(row[t.n:])
			}
			for j := range t.panels() {
				if p.kernel.packColumns(&p.panel(j, lo)[0], &rows[j*t.columns], 4*t.stride(), n, &format.emin) != 0 {
					rare[j].Store(true)
				}
			}
		}
	}}
}

func (p *floorCountProduct) addTo(c, z blas32.General) {
	t, half := p.tiling, p.d.C.Equal(Binary16)
	sums := t.loadBeside(c, p.d.C)
	defer tilingScratch.put(sums)
	rare := p.rareTiles(sums, c.Data != nil)
	panels, stride, terms, constants := t.panels(), t.stride(), p.f.Terms, &p.constants.bytes[0]
	t.each(func(group, panel, lo, hi int) {
		tile := group*panels + panel
		if rare[tile] {
			return
		}
		s, x, y := &sums[group*t.rows*stride+panel*t.columns], &p.group(group, lo)[0], &p.panel(panel, lo)[0]
		if half {
			rare[tile] = p.kernel.half(s, 4*stride, x, y, (hi-lo)/terms, terms, constants) != 0
		} else {
			p.kernel.run(s, 4*stride, x, y, (hi-lo)/terms, terms, constants)
		}
		if hi == t.k && !rare[tile] {
			t.storeTile(z, sums[group*t.rows*stride+panel*t.columns:], stride, group, panel)
		}
	})
	p.redo(sums, c, z, rare)
}

// rareTiles returns, for each panel of each group, whether the kernel cannot
// compute the tile.
func (p *floorCountProduct) rareTiles(sums []float32, given bool) []bool {
	t := p.tiling
	rare := make([]bool, t.groups()*t.panels())
	if p.rare == 0 && !given {
		return rare
	}
	parallel.Ranges(t.groups(), func(lo, hi int) {
		for g := lo; g < hi; g++ {
			for j := range t.panels() {
				rare[g*t.panels()+j] = p.rareX[g] || p.rareY[j]
			}
			if !given {
				continue
			}
			for i := g * t.rows; i < min((g+1)*t.rows, t.m); i++ {
				for j, c := range sums[i*t.stride():][:t.n] {
					if inside := c >= floorCountLeast && c <= floorCountMost || c <= -floorCountLeast && c >= -floorCountMost; !inside && c != 0 {
						rare[g*t.panels()+j/t.columns] = true
					}
				}
			}
		}
	})
	return rare
}

// redo stores in z the rare tiles, computed by a dotAdd from c on, and counts
// the others.
func (p *floorCountProduct) redo(sums []float32, c, z blas32.General, rare []bool) {
	t := p.tiling
	if !slices.Contains(rare, true) {
		floorCountPath.count(t.m, t.k, t.n)
		return
	}
	general, _ := newDotAddProduct(p.d, p.a, p.b)
	defer general.release()
	stride, panels := t.stride(), t.panels()
	parallel.Ranges(t.groups(), func(lo, hi int) {
		done := 0
		defer func() { floorCountPath.count(done, t.k, 1) }()
		for tile := lo * panels; tile < hi*panels; tile++ {
			group, panel := tile/panels, tile%panels
			i0, j0 := group*t.rows, panel*t.columns
			i1, j1 := min(i0+t.rows, t.m), min(j0+t.columns, t.n)
			if !rare[tile] {
				done += (i1 - i0) * (j1 - j0)
				continue
			}
			for i := i0; i < i1; i++ {
				start := sums[i*stride:][j0:j1]
				if c.Data == nil {
					clear(start)
				} else {
					roundRow(start, matrix.Row(c, i)[j0:j1], p.d.C)
				}
			}
			general.rectangle(sums, stride, i0, i1, j0, min(j0+t.columns, general.stride()))
			t.storeTile(z, sums[i0*stride+j0:], stride, group, panel)
		}
	})
}
