package tcore

import (
	"bytes"
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// groupKernel has the vector routines for products of e2m1 factors with scales,
// whose tiles have groupRows rows. run adds to the sums c of a tile if all of
// its operations but the roundings of c are exact in binary32, and wide if they
// are exact in binary64. Package vector describes all of them.
type groupKernel struct {
	columns     int // of a tile
	run         func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int, t, z *float32, stride int) uint64
	wide        func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int)
	cut         func(c, zero *float64, a *int8, as *uint32, b *uint8, bs *float32, blocks, fraction int)
	scale       func(z *float32, stride int, c, rows, columns *float32)
	packRows    func(dst *int8, first, sizes *uint32, src *uint8, stride, groups, parts int, p *uint8)
	encode      func(dst *uint8, src *float32, n int, greatest float32)
	packColumns func(dst *uint8, step int, sizes, src *uint8, stride, groups, quads int, p *uint8)
}

// The sizes of tiles and chunks. groupDepth blocks of a panel stay in the first
// cache while they are multiplied by rows of A, at most groupCache codes, that
// stay in the second one.
const (
	groupRows  = 4
	groupBlock = 64 // terms
	groupDepth = 8  // blocks in one call of run
	groupCache = 1 << 19
)

// groupOffset is added to twice a factor, which makes a byte without sign of
// it, and groupAnchor to an integer, which makes the significand of a binary32
// number of it.
const (
	groupOffset = 12
	groupAnchor = 0x1.8p23
)

// groupTables contains what the packing routines read for the 16 codes.
type groupTables struct {
	number  [16]uint8 // twice the number
	shifted [16]uint8 // with the offset
	size    [16]uint8 // its magnitude
	offset  uint32
	first   uint32 // p of a group of zeros
}

func newGroupTables(size int) *groupTables {
	t := &groupTables{offset: groupOffset}
	for code := range t.number {
		x := int(2 * E2M1.Decode(uint64(code)))
		t.number[code], t.shifted[code], t.size[code] = uint8(x), uint8(x+groupOffset), uint8(max(x, -x))
	}
	t.first = math.Float32bits(groupAnchor) + uint32(size*groupOffset*groupOffset)
	return t
}

// groupScale is a scale as significand × 2^exp. The significand of a scale of 0
// and of a NaN is 0.
type groupScale struct {
	significand float32
	exp         int16
	isNaN       bool
}

// groupScales returns the scales of all codes of a format with a kernel.
func groupScales(f Format) *[256]groupScale {
	if f.Equal(E8M0) {
		return groupScalesE8M0()
	}
	return groupScalesUE4M3()
}

var (
	groupScalesE8M0  = sync.OnceValue(func() *[256]groupScale { return newGroupScales(E8M0) })
	groupScalesUE4M3 = sync.OnceValue(func() *[256]groupScale { return newGroupScales(UE4M3) })
)

// newGroupScales is groupScales of any format.
func newGroupScales(f Format) *[256]groupScale {
	t := new([256]groupScale)
	for code := range t {
		x := f.Decode(uint64(code))
		if x != x || x == 0 {
			t[code].isNaN = x != x
			continue
		}
		_, exp := f.split(x)
		t[code] = groupScale{float32(x / exp2(exp)), int16(exp), false}
	}
	return t
}

// groupVector describes the scales of a row of A or of a column of B. Scales of
// groups of zeros, scales of zero and NaNs do not count.
type groupVector struct {
	least, greatest int16   // exponents of scales, or 0 if none counts
	hasNaN          bool    // among the scales
	norm            float64 // 2-norm of the scales / 2^least
}

// nothing describes no scales. finish makes a groupVector of it.
var nothing = groupVector{least: math.MaxInt16, greatest: math.MinInt16}

// add adds a scale of a group.
func (v *groupVector) add(s *groupScale, zeros bool) {
	if s.isNaN {
		v.hasNaN = true
	}
	if zeros || s.significand == 0 {
		return
	}
	v.least, v.greatest = min(v.least, s.exp), max(v.greatest, s.exp)
}

// finish is called after all scales have been added, before relative.
func (v *groupVector) finish() {
	if v.least > v.greatest {
		v.least, v.greatest = 0, 0
	}
}

// relative returns the scale of a group / 2^least, or 0 if it does not count.
func (v *groupVector) relative(s *groupScale, zeros bool) float32 {
	if zeros {
		return 0
	}
	return s.significand * v.power(s)
}

// power returns 2^exp / 2^least for the exponent of a scale, or infinity beyond
// the range of binary32.
func (v *groupVector) power(s *groupScale) float32 {
	return math.Float32frombits(min(uint32(127+int(s.exp)-int(v.least)), 255) << 23)
}

// groupFactor is what a tile has of one operand: rows of A or columns of B.
type groupFactor struct {
	least, greatest int     // exponents of the least scales of the vectors
	spread          int     // the greatest one
	norm            float64 // the greatest one
	hasNaN          bool
}

func newGroupFactor(vectors []groupVector) groupFactor {
	f := groupFactor{least: int(vectors[0].least), greatest: int(vectors[0].least)}
	for _, v := range vectors {
		f.least, f.greatest = min(f.least, int(v.least)), max(f.greatest, int(v.least))
		f.spread = max(f.spread, int(v.greatest)-int(v.least))
		f.norm, f.hasNaN = max(f.norm, v.norm), f.hasNaN || v.hasNaN
	}
	return f
}

// groupProduct is a product of e2m1 factors with scales. As long as nothing is
// cut off, the sum of a block is one rounding toward zero:
//
// A term, the sum of a group with its scales, is a multiple of 2^(E-w), E
// being the sum of the exponents of the scales and w = 2(p-1) + 2 for scales
// of p bits. If all E of a chain are in [least, least + F-w], and |c| stays
// less than 2^(least + F-w + 1), then E* <= least + F-w, and all terms are
// multiples of 2^(E*-F). So is c, a multiple of 2^(least-w) from the beginning
// on, which truncation to 24 bits does not change. Then E* does not matter,
// and neither does the E of a group of zeros, at most Emin of binary32.
//
// |c| cannot be more than the sum of the magnitudes of all terms, which is at
// most 36 × the sum over all pairs of scales, times the size of a group; by
// Cauchy and Schwarz the product of the norms of the scales bounds it.
//
// Row i of A is divided by 2^leastᵢ and column j of B by 2^leastⱼ, and so is
// the sum, exactly.
type groupProduct struct {
	d       *Device
	kernel  groupKernel
	source  [2]Codes
	m, n, k int
	groups  int // of ScaleBlock terms in a chain, in whole blocks

	a, b    groupOperand
	quadsA  []int8 // and what package vector reads beside them
	scalesA []uint32
	quadsB  []uint8
	scalesB []float32
	cut     *groupCut
}

// groupOperand describes the scales of an operand.
type groupOperand struct {
	vectors []groupVector // rows or columns
	powers  []float32     // 2^least of each
	tiles   []groupFactor // groups of rows, or panels
}

func newGroupOperand(tiles, size int) groupOperand {
	return groupOperand{make([]groupVector, tiles*size), make([]float32, tiles*size), make([]groupFactor, tiles)}
}

// finish completes the description of tile l from those of its vectors.
func (o *groupOperand) finish(l, size int) {
	vectors := o.vectors[l*size:][:size]
	o.tiles[l] = newGroupFactor(vectors)
	for i, v := range vectors {
		o.powers[l*size+i] = float32(exp2(int(v.least)))
	}
}

// groupPath counts what is computed by vector routines in binary32, in whole
// tiles, and groupWidePath what had to be computed in binary64 then.
// groupCutPath counts what is computed where bits may be cut off, and
// groupScalarPath what is computed without vector routines.
var (
	groupPath       = newPath("groups")
	groupWidePath   = newPath("groups in binary64")
	groupCutPath    = newPath("groups, cut off")
	groupScalarPath = newPath("groups without vectors")
)

// newGroupProduct prepares a product of codes. It returns false if there is no
// kernel for d.
func newGroupProduct(d *Device, a, b Codes) (prepared, bool) {
	kernel, ok := d.groupKernel()
	if !ok {
		return nil, false
	}
	k := d.padded(a.Cols)
	p := &groupProduct{d: d, kernel: kernel, source: [2]Codes{a, b}, m: a.Rows, n: b.Cols, k: k, groups: k / d.ScaleBlock}
	scales, tables := groupScales(d.Scale), newGroupTables(d.ScaleBlock)
	p.packRows(scales, tables)
	p.packColumns(scales, tables)
	p.cut = &groupCut{p: p, scales: scales, tables: tables, one: p.ones(1)[0]}
	return p, true
}

// newOnesProduct prepares a product of numbers, whose scales are 1. It returns
// false if there is no kernel for d.
func newOnesProduct(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	kernel, ok := d.groupKernel()
	if !ok {
		return nil, false
	}
	p := &onesProduct{x: d.encodeMatrix(kernel, d.A, a), y: d.encodeMatrix(kernel, d.B, b)}
	p.prepared, _ = newGroupProduct(d, p.x, p.y)
	return p, true
}

// onesProduct is a product of codes that are its own.
type onesProduct struct {
	prepared
	x, y Codes
}

func (p *onesProduct) release() {
	p.prepared.release()
	groupScratch.codes.put(p.x.Data)
	groupScratch.codes.put(p.y.Data)
}

// encodeMatrix returns the codes of m rounded to e2m1 by Convert.
func (d *Device) encodeMatrix(k groupKernel, f Format, m blas32.General) Codes {
	z := Codes{Rows: m.Rows, Cols: m.Cols, Data: groupScratch.codes.get(m.Rows * m.Cols)}
	parallel.Ranges(m.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src, dst, n := matrix.Row(m, i), z.Data[i*m.Cols:][:m.Cols], 0
			if d.Convert == ToNearestEven && f.Overflow == Saturate && f.Subnormals == Kept {
				n = len(src) &^ 31
			}
			if n > 0 {
				k.encode(&dst[0], &src[0], n, float32(f.Max()))
			}
			for j, x := range src[n:] {
				dst[n+j] = uint8(f.Encode(float64(x), d.Convert))
			}
		}
	})
	return z
}

// groupKernel returns the kernel for the sums of d. It returns false if there
// is none.
func (d *Device) groupKernel() (groupKernel, bool) {
	f, ok := d.Core.(Fused)
	ok = ok && f.Group == 16 && f.Terms == groupBlock && f.Rounding == ToZero && !f.PositiveTiny &&
		f.FractionBits <= groupMostBits && f.Result.Equal(Binary32) && d.C.Equal(Binary32) && f.ZeroExponent <= Binary32.Emin &&
		d.A.Equal(E2M1) && d.B.Equal(E2M1) && (d.Scale.Equal(E8M0) || d.Scale.Equal(UE4M3))
	if !ok {
		return groupKernel{}, false
	}
	return groupKernelFor(d.ScaleBlock)
}

// groupScratch recycles the memory of finished products.
var groupScratch struct {
	a     scratch[int8]
	as    scratch[uint32]
	b     scratch[uint8]
	bs    scratch[float32]
	sums  scratch[float32]
	sizes scratch[uint32]
	codes scratch[uint8]
}

func (p *groupProduct) release() {
	groupScratch.a.put(p.quadsA)
	groupScratch.as.put(p.scalesA)
	groupScratch.b.put(p.quadsB)
	groupScratch.bs.put(p.scalesB)
}

// rowGroups returns the number of groups of rows, panels that of panels.
func (p *groupProduct) rowGroups() int { return (p.m + groupRows - 1) / groupRows }
func (p *groupProduct) panels() int    { return (p.n + p.kernel.columns - 1) / p.kernel.columns }

// ones returns n codes of a scale of 1.
func (p *groupProduct) ones(n int) []uint8 {
	one := uint8(p.d.Scale.Encode(1, ToNearestEven))
	return bytes.Repeat([]uint8{one}, n)
}

func (p *groupProduct) packRows(scales *[256]groupScale, tables *groupTables) {
	src, size, groups := p.source[0], p.d.ScaleBlock, p.groups
	p.quadsA = groupScratch.a.get(p.rowGroups() * groupRows * p.k)
	p.scalesA = groupScratch.as.get(p.rowGroups() * groups * 2 * groupRows)
	p.a = newGroupOperand(p.rowGroups(), groupRows)
	blocks := (src.Cols + size - 1) / size
	ones := p.ones(blocks)
	parallel.Ranges(p.rowGroups(), func(lo, hi int) {
		sizes := groupScratch.sizes.get(groups * groupRows)
		defer groupScratch.sizes.put(sizes)
		codes := groupScratch.codes.get(groupRows * p.k)
		defer groupScratch.codes.put(codes)
		for l := lo; l < hi; l++ {
			i, stride, from := l*groupRows, src.Cols, codes
			rows := min(groupRows, p.m-i)
			if rows == groupRows && p.k == src.Cols {
				from = src.Data[i*stride:]
			} else {
				clear(codes)
				for r := range rows {
					copy(codes[r*p.k:], src.Data[(i+r)*stride:][:stride])
				}
				stride = p.k
			}
			as := p.scalesA[l*groups*2*groupRows:][:groups*2*groupRows]
			if rows < groupRows || blocks < groups {
				clear(as)
			}
			p.kernel.packRows(&p.quadsA[i*p.k], &as[0], &sizes[0], &from[0], stride, groups, size/16, &tables.number[0])
			for r := range min(groupRows, p.m-i) {
				row := ones
				if len(src.Scales) > 0 {
					row = src.Scales[(i+r)*blocks:][:blocks]
				}
				v := nothing
				for g, code := range row {
					v.add(&scales[code], sizes[g*groupRows+r] == 0)
				}
				v.finish()
				for g, code := range row {
					s := v.relative(&scales[code], sizes[g*groupRows+r] == 0)
					v.norm += float64(s * s)
					as[g*2*groupRows+groupRows+r] = math.Float32bits(s)
				}
				v.norm = math.Sqrt(v.norm)
				p.a.vectors[i+r] = v
			}
			p.a.finish(l, groupRows)
		}
	})
}

func (p *groupProduct) packColumns(scales *[256]groupScale, tables *groupTables) {
	src, size, groups, columns := p.source[1], p.d.ScaleBlock, p.groups, p.kernel.columns
	p.quadsB = groupScratch.b.get(p.panels() * columns * p.k)
	p.scalesB = groupScratch.bs.get(p.panels() * groups * 2 * columns)
	p.b = newGroupOperand(p.panels(), columns)
	blocks := (src.Rows + size - 1) / size
	ones := p.ones(columns)
	parallel.Ranges(p.panels(), func(lo, hi int) {
		sizes := groupScratch.codes.get(groups * columns)
		defer groupScratch.codes.put(sizes)
		codes := groupScratch.codes.get(columns * p.k)
		defer groupScratch.codes.put(codes)
		for l := lo; l < hi; l++ {
			j, stride, from := l*columns, src.Cols, codes
			width := min(columns, p.n-j)
			if width == columns && p.k == src.Rows {
				from = src.Data[j:]
			} else {
				clear(codes)
				for k := range src.Rows {
					copy(codes[k*columns:], src.Data[k*stride+j:][:width])
				}
				stride = columns
			}
			for c := 0; c < columns; c += 16 {
				p.kernel.packColumns(&p.quadsB[j*p.k+4*c], 4*columns, &sizes[c*groups], &from[c], stride, groups, size/4, &tables.number[0])
			}
			vectors, bs := p.b.vectors[j:j+columns], p.scalesB[l*groups*2*columns:][:groups*2*columns]
			clear(bs)
			for c := range vectors {
				vectors[c] = nothing
			}
			row := ones[:width]
			for g := range blocks {
				if len(src.Scales) > 0 {
					row = src.Scales[g*p.n+j:][:width]
				}
				for c, code := range row {
					vectors[c].add(&scales[code], sizes[c&^15*groups+g*16+c&15] == 0)
				}
			}
			for c := range vectors {
				vectors[c].finish()
			}
			for g := range blocks {
				if len(src.Scales) > 0 {
					row = src.Scales[g*p.n+j:][:width]
				}
				x := bs[2*g*columns:][:2*columns]
				for c, code := range row {
					s := vectors[c].relative(&scales[code], sizes[c&^15*groups+g*16+c&15] == 0)
					vectors[c].norm += float64(s * s)
					x[c], x[columns+c] = s/4, -groupAnchor/4*s // factors are doubled
				}
			}
			for c := range vectors {
				vectors[c].norm = math.Sqrt(vectors[c].norm)
			}
			p.b.finish(l, columns)
		}
	})
}

func (p *groupProduct) addTo(c, z blas32.General) {
	strip := max(1, groupCache/(groupRows*p.k))
	part := func(groupLo, groupHi, panelLo, panelHi int) {
		w := newGroupStrip(p, c, z, min(strip, groupHi-groupLo))
		defer w.release()
		for lo := groupLo; lo < groupHi; lo += strip {
			for panel := panelLo; panel < panelHi; panel++ {
				w.compute(lo, min(lo+strip, groupHi), panel)
			}
		}
	}
	if p.rowGroups() >= p.panels() {
		parallel.Ranges(p.rowGroups(), func(lo, hi int) { part(lo, hi, 0, p.panels()) })
		return
	}
	parallel.Ranges(p.panels(), func(lo, hi int) { part(0, p.rowGroups(), lo, hi) })
}

// groupStrip is the memory of one goroutine for the tiles of some groups of
// rows and one panel.
type groupStrip struct {
	*groupProduct
	c, z    blas32.General
	sums    []float32 // of a tile after the other, divided by powers of two
	t, tile []float32 // memory of run, and a tile at the edge of z
	proved  []bool    // the tiles for which nothing is cut off
}

func newGroupStrip(p *groupProduct, c, z blas32.General, groups int) *groupStrip {
	size := groupRows * p.kernel.columns
	w := &groupStrip{groupProduct: p, c: c, z: z, proved: make([]bool, groups)}
	w.sums = groupScratch.sums.get((groups + groupDepth + 1) * size)
	w.t, w.tile = w.sums[groups*size:][:groupDepth*size], w.sums[(groups+groupDepth)*size:]
	return w
}

func (w *groupStrip) release() { groupScratch.sums.put(w.sums) }

// sumsOf returns the sums of tile l of the strip.
func (w *groupStrip) sumsOf(l int) []float32 {
	size := groupRows * w.kernel.columns
	return w.sums[l*size:][:size]
}

// compute computes the tiles of the groups [lo, hi) and a panel.
func (w *groupStrip) compute(lo, hi, panel int) {
	columns, blocks := w.kernel.columns, w.k/groupBlock
	each := groupBlock / w.d.ScaleBlock // groups in a block
	for l := range hi - lo {
		w.proved[l] = w.prove(lo+l, panel) && w.load(l, lo+l, panel)
	}
	proved, wide := 0, 0 // blocks of tiles
	for block := 0; block < blocks; block += groupDepth {
		n := min(groupDepth, blocks-block)
		b := &w.quadsB[panel*columns*w.k+block*groupBlock*columns]
		bs := &w.scalesB[(panel*w.groups+block*each)*2*columns]
		for l := range hi - lo {
			if !w.proved[l] {
				continue
			}
			a := &w.quadsA[(lo+l)*groupRows*w.k+block*groupBlock*groupRows]
			as := &w.scalesA[((lo+l)*w.groups+block*each)*2*groupRows]
			sums, z, stride := &w.sumsOf(l)[0], w.destination(lo+l, panel), 4*w.z.Stride
			if w.kernel.run(sums, a, as, b, bs, n, &w.t[0], z, stride) != 0 {
				w.kernel.wide(sums, a, as, b, bs, n)
				wide += n
			}
			proved += n
			if block+n == blocks {
				w.store(l, lo+l, panel)
			}
		}
	}
	groupPath.count(groupRows, proved*groupBlock, columns)
	groupWidePath.count(groupRows, wide*groupBlock, columns)
	for l := range hi - lo {
		if !w.proved[l] && !w.cutTile(lo+l, panel) {
			w.scalar(lo+l, panel)
		}
	}
}

// destination returns the first element of a tile in z.
func (w *groupStrip) destination(group, panel int) *float32 {
	return &w.z.Data[group*groupRows*w.z.Stride+panel*w.kernel.columns]
}

// tileSize returns the numbers of rows and columns of a tile that are in z.
func (w *groupStrip) tileSize(group, panel int) (rows, columns int) {
	return min(groupRows, w.m-group*groupRows), min(w.kernel.columns, w.n-panel*w.kernel.columns)
}

// fraction returns w of [groupProduct], and reach F - w.
func (p *groupProduct) fraction() int { return 2*(p.d.Scale.Precision-1) + 2 }
func (p *groupProduct) reach() int    { return p.d.Core.(Fused).FractionBits - p.fraction() }

// bound returns what |c| / 2^least does not exceed in a tile if it begins with
// 0, or infinity if terms may be cut off or numbers may not be normal.
func (p *groupProduct) bound(group, panel int) float64 {
	x, y := &p.a.tiles[group], &p.b.tiles[panel]
	if x.hasNaN || y.hasNaN || x.spread+y.spread > p.reach() || x.least+y.least < Binary32.Emin ||
		x.greatest+y.greatest+p.reach() > Binary32.Emax {
		return math.Inf(1)
	}
	const slack = 1 + 0x1p-30 // more than the rounding errors of the norms
	return float64(36*p.d.ScaleBlock) * x.norm * y.norm * slack
}

// prove reports whether nothing is cut off in a tile that begins with 0.
func (w *groupStrip) prove(group, panel int) bool {
	return w.bound(group, panel) < exp2(w.reach()+1)
}

// load stores C / 2^least in the sums of tile l and reports whether nothing is
// cut off if they begin so.
func (w *groupStrip) load(l, group, panel int) bool {
	sums := w.sumsOf(l)
	clear(sums)
	if w.c.Data == nil {
		return true
	}
	limit := exp2(w.reach()+1) - w.bound(group, panel)
	rows, columns := w.tileSize(group, panel)
	for r := range rows {
		i, j := group*groupRows+r, panel*w.kernel.columns
		for c, v := range matrix.Row(w.c, i)[j : j+columns] {
			x := float64(v) * exp2(-int(w.a.vectors[i].least)-int(w.b.vectors[j+c].least))
			if y := x * exp2(w.fraction()); !(math.Abs(x) < limit) || y != math.Trunc(y) {
				return false
			}
			sums[r*w.kernel.columns+c] = float32(x)
		}
	}
	return true
}

// store stores tile l.
func (w *groupStrip) store(l, group, panel int) {
	rows, columns := w.tileSize(group, panel)
	x, y := &w.a.powers[group*groupRows], &w.b.powers[panel*w.kernel.columns]
	sums := &w.sumsOf(l)[0]
	if rows == groupRows && columns == w.kernel.columns {
		w.kernel.scale(w.destination(group, panel), 4*w.z.Stride, sums, x, y)
		return
	}
	w.kernel.scale(&w.tile[0], 4*w.kernel.columns, sums, x, y)
	for r := range rows {
		copy(matrix.Row(w.z, group*groupRows+r)[panel*w.kernel.columns:], w.tile[r*w.kernel.columns:][:columns])
	}
}

// scalar computes a tile without vectors.
func (w *groupStrip) scalar(group, panel int) {
	rows, columns := w.tileSize(group, panel)
	groupScalarPath.count(rows, w.source[0].Cols, columns)
	i0, j0 := group*groupRows, panel*w.kernel.columns
	var y, scaleY [][]float64
	for c := range columns {
		v, s := w.d.decodeVector(w.d.B, w.source[1], j0+c, true)
		y, scaleY = append(y, v), append(scaleY, s)
	}
	for i := i0; i < i0+rows; i++ {
		x, scaleX := w.d.decodeVector(w.d.A, w.source[0], i, false)
		for c := range columns {
			start := 0.0
			if w.c.Data != nil {
				start = w.d.C.Round(float64(w.c.Data[i*w.c.Stride+j0+c]), ToNearestEven)
			}
			w.z.Data[i*w.z.Stride+j0+c] = float32(w.d.chain(x, y[c], scaleX, scaleY[c], start, nil))
		}
	}
}
