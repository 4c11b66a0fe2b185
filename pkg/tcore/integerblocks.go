package tcore

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

// integerBlocks is a product of narrow numbers that are, in blocks of
// integerTerms, integers of 15 bits in units of a power of two. A tile of sums
// is computed by integers if it is proved that the device cuts nothing: in each
// of its blocks,
//
//   - the greatest exponent that a product can have is so low that the device
//     keeps the unit of every product until there, and that of c;
//   - c is so small that the device keeps the units of the products.
//
// Then the device returns the exact sum, rounded. The second is known only when
// c is. Other tiles are computed term by term.
type integerBlocks struct {
	tiling
	d      *Device
	f      Fused
	kernel integerKernel
	a, b   source
	blocks int // of one sum

	lda   int
	x     []int16   // rows of A
	unitX []float32 // for each group and block, the units of its rows
	y     []int16   // for each panel and block, its columns and their units
	row   []extent  // of the blocks of the groups
	col   []extent  // of the blocks of the panels

	proved []bool    // for each group and panel, whether it is proved but for c
	limits []float32 // for each group, panel and block, a number that c is less than

	wide    tiling                // with panels that are whole panels of byTerms, too
	prepare func() *dotAddProduct // returns the product term by term
	byTerms *dotAddProduct        // nil before it is needed
}

// source is a factor: numbers, or codes with scales of e8m0.
type source struct {
	blas32.General
	codes  Codes
	number *[256]float32 // of each code; nil if the factor is numbers
}

// row returns n numbers of row i from column j on, as they are or in memory.
func (s *source) row(i, j, n int, memory []float32) []float32 {
	if s.number == nil {
		return s.Data[i*s.Stride+j:][:n]
	}
	for l, code := range s.codes.Data[i*s.codes.Cols+j:][:n] {
		memory[l] = s.number[code]
	}
	return memory[:n]
}

// scale returns the exponent of scale i, 0 if there are none. It returns false
// for a NaN.
func (s *source) scale(i int) (e int, ok bool) {
	if len(s.codes.Scales) == 0 {
		return 0, true
	}
	code := int(s.codes.Scales[i])
	return code - E8M0.Emax, code < 1<<8-1
}

// extent are the exponents of a block of rows or columns: of the least unit and
// of the greatest number, at least Emin.
type extent struct{ low, top int16 }

// unprovable is the exponent top of a block with numbers that are no integers
// of 15 bits. That of a block of zeros is -unprovable/2, so that not even their
// products with infinities are proved.
const unprovable = 1 << 10

var (
	integerBlocksPath = newPath("blocks of integers")
	cutBlocksPath     = newPath("blocks of integers, by terms")
)

// integerBlocksScratch recycles the memory of finished products.
var integerBlocksScratch struct {
	x, y                    scratch[int16]
	unit, top, rows, limits scratch[float32]
}

// newIntegerBlocks prepares a and b. It returns false if sums of d are no exact
// sums of integers even where nothing is cut, there is no kernel, or too few
// tiles are proved.
func newIntegerBlocks(d *Device, a, b blas32.General, _ bool) (prepared, bool) {
	return d.newIntegerBlocks(source{General: a}, source{General: b}, a.Rows, a.Cols, b.Cols, func() *dotAddProduct {
		plain, _ := d.unscaled() // scales of 1 change no exponent
		p, _ := newDotAddProduct(plain, a, b)
		return p
	})
}

// newIntegerBlockCodes is newIntegerBlocks for codes, with or without scales.
func newIntegerBlockCodes(d *Device, a, b Codes) (prepared, bool) {
	if d.ScaleBlock != 0 && (d.ScaleBlock != integerTerms || !d.Scale.Equal(E8M0)) {
		return nil, false
	}
	x, y := source{codes: a, number: d.A.numbers()}, source{codes: b, number: d.B.numbers()}
	return d.newIntegerBlocks(x, y, a.Rows, a.Cols, b.Cols, func() *dotAddProduct {
		p, _ := newDotAddCodes(d, a, b)
		return p
	})
}

// newIntegerBlocks prepares an M × N product of K terms, which prepare returns
// term by term. It returns false as the function newIntegerBlocks does.
func (d *Device) newIntegerBlocks(a, b source, m, k, n int, prepare func() *dotAddProduct) (prepared, bool) {
	f, ok := d.integerCore()
	if !ok || f.Terms != integerTerms {
		return nil, false
	}
	kernel, ok := integerKernelFor()
	if !ok {
		return nil, false
	}
	plain, _ := d.unscaled()
	byTerms, ok := f.dotAddKernel(plain, false)
	if !ok {
		return nil, false
	}
	p := &integerBlocks{
		tiling: tiling{m: m, n: n, k: k, rows: kernel.rows, columns: kernel.columns},
		d:      d, f: f, kernel: kernel, a: a, b: b, prepare: prepare,
		blocks: (k + integerTerms - 1) / integerTerms,
	}
	p.getMemory()
	if !p.promises() {
		p.release()
		return nil, false
	}
	parallel.Loops(parallel.Loop{N: p.groups(), Work: p.packRows}, parallel.Loop{N: p.panels(), Work: p.packPanels})
	var proved atomic.Int64
	parallel.Ranges(p.groups(), func(lo, hi int) { proved.Add(int64(p.prove(lo, hi, 0, p.panels()))) })
	if int(proved.Load())*fewProved < p.groups()*p.panels() {
		p.release()
		return nil, false
	}
	p.wide = p.tiling
	for p.wide.columns%byTerms.columns != 0 {
		p.wide.columns += kernel.columns
	}
	return p, true
}

// integerTerms is the number of terms of a block in a unit of its own.
const integerTerms = 32

// fewProved is how many times more tiles there may be than proved ones.
const fewProved = 8

// getMemory allocates the memory of the operands.
func (p *integerBlocks) getMemory() {
	p.lda = p.blocks*integerTerms + 32
	p.x = integerBlocksScratch.x.get(p.groups() * p.rows * p.lda)
	p.unitX = integerBlocksScratch.unit.get(p.groups() * p.blocks * p.rows)
	p.y = integerBlocksScratch.y.get(p.panels() * p.blocks * p.panelBlock())
	p.limits = integerBlocksScratch.limits.get(p.groups() * p.panels() * p.blocks)
	p.row, p.col = make([]extent, p.groups()*p.blocks), make([]extent, p.panels()*p.blocks)
	p.proved = make([]bool, p.groups()*p.panels())
}

// packRows packs the groups [lo, hi) of rows.
func (p *integerBlocks) packRows(lo, hi int) {
	constants := newPackConstants(p.d.A, 0)
	n := p.blocks * integerTerms
	padded, top := make([]float32, n), make([]float32, p.blocks*p.rows)
	for group := lo; group < hi; group++ {
		unit := p.unitX[group*p.blocks*p.rows:][:p.blocks*p.rows]
		for r := range p.rows {
			i, row := group*p.rows+r, padded
			if i < p.m {
				row = p.a.row(i, 0, p.k, padded)
			} else {
				clear(padded)
			}
			if len(row) < n {
				copy(padded, row)
				row = padded
			}
			p.kernel.rowWords(&p.x[i*p.lda], &unit[r], &top[r], 4*p.rows, &row[0], p.blocks, &constants.field)
		}
		for b := range p.blocks {
			p.row[group*p.blocks+b] = p.a.extent(p.d.A, unit[b*p.rows:][:min(p.rows, p.m-group*p.rows)], top[b*p.rows:], group*p.rows*p.blocks+b, p.blocks)
		}
	}
}

// panelBlock returns the length of a block of a panel, with its units of 32
// bits.
func (p *integerBlocks) panelBlock() int { return (integerTerms + 2) * p.kernel.columns }

// packPanels packs the panels [lo, hi).
func (p *integerBlocks) packPanels(lo, hi int) {
	for panel := lo; panel < hi; panel++ {
		p.packPanel(panel, 0, p.blocks)
	}
}

// packPanel packs the blocks [lo, hi) of a panel.
func (p *integerBlocks) packPanel(panel, lo, hi int) {
	constants, columns := newPackConstants(p.d.B, 0), p.kernel.columns
	memory := integerBlocksScratch.rows.get((2*integerTerms + 2) * columns)
	defer integerBlocksScratch.rows.put(memory)
	part := func(rows, n int) []float32 { return memory[rows*columns:][:n*columns] }
	rounded, edge := part(0, integerTerms), part(integerTerms, integerTerms)
	top, unit := part(2*integerTerms, 1), part(2*integerTerms+1, 1)
	for b := lo; b < hi; b++ {
		j, k := panel*columns, b*integerTerms
		y := p.y[(panel*p.blocks+b)*p.panelBlock():][:p.panelBlock()]
		src, stride := &edge[0], columns
		if p.b.number == nil && j+columns <= p.n && k+integerTerms <= p.k {
			src, stride = &p.b.Data[k*p.b.Stride+j], p.b.Stride
		} else {
			clear(edge)
			for r := range min(integerTerms, p.k-k) {
				to := edge[r*columns:][:columns]
				copy(to, p.b.row(k+r, j, min(columns, p.n-j), to))
			}
		}
		p.kernel.panelWords(&y[0], &top[0], &rounded[0], src, 4*stride, &constants.field)
		p.col[panel*p.blocks+b] = p.b.extent(p.d.B, p.units(unit, y)[:min(columns, p.n-j)], top, b*p.n+j, 1)
		p.storeUnits(y, unit)
	}
}

// units stores the units of the columns of a block in unit and returns it.
func (p *integerBlocks) units(unit []float32, block []int16) []float32 {
	words := block[integerTerms*p.kernel.columns:]
	for j := range unit {
		unit[j] = math.Float32frombits(uint32(uint16(words[2*j])) | uint32(uint16(words[2*j+1]))<<16)
	}
	return unit
}

// storeUnits is the reverse of units.
func (p *integerBlocks) storeUnits(block []int16, unit []float32) {
	words := block[integerTerms*p.kernel.columns:]
	for j, u := range unit {
		words[2*j], words[2*j+1] = int16(math.Float32bits(u)), int16(math.Float32bits(u)>>16)
	}
}

// extent returns the extent of blocks of numbers of f with the given units and
// greatest magnitudes, and multiplies the units by the scales: scale i is that
// of the first block, and those of the others are step apart.
func (s *source) extent(f Format, unit, top []float32, i, step int) extent {
	e := extent{low: math.MaxInt16, top: -unprovable / 2}
	greatest := math.Float32bits(float32(f.Max()))
	for r, u := range unit {
		m := math.Float32bits(top[r])
		scale, ok := s.scale(i + r*step)
		if m == 0 && ok { // zeros
			e.low = min(e.low, emptyUnit)
			continue
		}
		low, high := int(math.Float32bits(u)>>23)-127, max(int(m>>23)-127, f.Emin)
		if !ok || m > greatest || high-low > 14 || low+scale < -126 || low+scale > emptyUnit {
			e.top = unprovable
			continue
		}
		e.low, e.top = min(e.low, int16(low+scale)), max(e.top, int16(high+scale))
		unit[r] = math.Float32frombits(exponentBits(low + scale))
	}
	return e
}

// promises reports whether one of two tiles, the first and the last, is proved.
// It packs their operands.
func (p *integerBlocks) promises() bool {
	for _, tile := range []tileIndex{{0, 0}, {p.groups() - 1, p.panels() - 1}} {
		parallel.Loops(
			parallel.Loop{N: 1, Work: func(_, _ int) { p.packRows(tile.group, tile.group+1) }},
			parallel.Loop{N: p.blocks, Work: func(lo, hi int) { p.packPanel(tile.panel, lo, hi) }})
		if p.prove(tile.group, tile.group+1, tile.panel, tile.panel+1) > 0 {
			return true
		}
	}
	return false
}

// prove computes the limits of the tiles of groups and panels and returns how
// many are proved.
func (p *integerBlocks) prove(groupLo, groupHi, panelLo, panelHi int) (proved int) {
	for group := groupLo; group < groupHi; group++ {
		for panel := panelLo; panel < panelHi; panel++ {
			tile := group*p.panels() + panel
			p.proved[tile] = p.f.proveBlocks(p.limits[tile*p.blocks:][:p.blocks], p.row[group*p.blocks:], p.col[panel*p.blocks:])
			if p.proved[tile] {
				proved++
			}
		}
	}
	return proved
}

// proveBlocks reports whether blocks of products of the given extents lose
// nothing for every c that is, before each block, a multiple of the units so
// far and less than its limit in magnitude.
func (f *Fused) proveBlocks(limits []float32, row, col []extent) bool {
	least := math.MaxInt
	for b := range limits {
		low, top := int(row[b].low)+int(col[b].low), int(row[b].top)+int(col[b].top)
		least = min(least, low)
		if top-low > maxBlockSpan || max(top, f.ZeroExponent)-f.FractionBits > least || low < -126 || top > 100 {
			return false
		}
		limits[b] = math.Float32frombits(exponentBits(min(low+f.FractionBits+1, 126)))
	}
	return true
}

// maxBlockSpan is the greatest distance of the exponents of a product and of
// its unit for which the sum of integerTerms products is less than 2^31 units:
// each is less than 4 times the power of two.
const maxBlockSpan = 31 - 5 - 2

// blockConstants contains the constants of addBlocks: bits of 2^24, the mask of
// all bits but the sign, and the MXCSR control word of rounding toward zero.
var blockConstants = [3]uint32{(127 + 24) << 23, signBit32 - 1, 0x7f80}

// tileIndex is the place of a tile.
type tileIndex struct{ group, panel int }

func (p *integerBlocks) addTo(c, z blas32.General) {
	var cut []tileIndex // of wide
	var mu sync.Mutex
	p.wide.eachTile(integerCache/(2*p.rows*p.lda), func() func(group, panel int) {
		sums := make([]float32, p.rows*p.wide.columns)
		return func(group, panel int) {
			if !p.addTile(sums, c, z, group, panel) {
				mu.Lock()
				defer mu.Unlock()
				cut = append(cut, tileIndex{group, panel})
			}
		}
	})
	p.addByTerms(cut, c, z)
	n := 0
	for _, tile := range cut {
		n += min(p.rows, p.m-tile.group*p.rows) * min(p.wide.columns, p.n-tile.panel*p.wide.columns)
	}
	cutBlocksPath.count(n, p.k, 1)
	integerBlocksPath.count(p.m*p.n-n, p.k, 1)
}

// addTile computes a tile of wide by integers. It returns false, and leaves z
// as it is, if the device may cut anything. sums is memory for the tile.
func (p *integerBlocks) addTile(sums []float32, c, z blas32.General, group, panel int) bool {
	each := p.wide.columns / p.columns
	first := panel * each
	last := min(first+each, p.panels())
	for panel := first; panel < last; panel++ {
		if !p.proved[group*p.panels()+panel] {
			return false
		}
	}
	n := p.rows * p.columns
	for panel := first; panel < last; panel++ {
		part := sums[(panel-first)*n:][:n]
		p.loadTile(part, c, group, panel)
		if c.Data != nil && !multiples(part, p.leastUnit(group, panel)) {
			return false
		}
		left := p.kernel.addBlocks(&part[0], &p.x[group*p.rows*p.lda], 2*p.lda, &p.unitX[group*p.blocks*p.rows],
			&p.y[panel*p.blocks*p.panelBlock()], &p.limits[(group*p.panels()+panel)*p.blocks], p.blocks, &blockConstants[0])
		if left > 0 {
			return false
		}
	}
	for panel := first; panel < last; panel++ {
		p.storeTile(z, sums[(panel-first)*n:], p.columns, group, panel)
	}
	return true
}

// leastUnit returns the exponent of the last bit that the device keeps of c in
// all blocks of a tile.
func (p *integerBlocks) leastUnit(group, panel int) int {
	least := p.f.ZeroExponent - p.f.FractionBits
	for b := range p.blocks {
		least = max(least, int(p.row[group*p.blocks+b].top)+int(p.col[panel*p.blocks+b].top)-p.f.FractionBits)
	}
	return least
}

// multiples reports whether all numbers of x are finite multiples of 2^e.
func multiples(x []float32, e int) bool {
	for _, v := range x {
		if n := math.Ldexp(float64(v), -e); n != math.Trunc(n) || math.IsInf(n, 0) {
			return false
		}
	}
	return true
}

// addByTerms stores the sums of tiles of wide in z, computed term by term.
func (p *integerBlocks) addByTerms(tiles []tileIndex, c, z blas32.General) {
	if len(tiles) == 0 {
		return
	}
	if p.byTerms == nil {
		p.byTerms = p.prepare()
	}
	w, general := p.wide, p.byTerms
	sums := w.loadBeside(c, p.d.C)
	defer tilingScratch.put(sums)
	parallel.Each(len(tiles), func(t int) {
		i, j := tiles[t].group*w.rows, tiles[t].panel*w.columns
		rows := min(w.rows, p.m-i)
		general.rectangle(sums, w.stride(), i, i+rows, j, min(j+w.columns, general.stride()))
		for r := range rows {
			copy(matrix.Row(z, i+r)[j:], sums[(i+r)*w.stride()+j:][:w.columns])
		}
	})
}

func (p *integerBlocks) release() {
	integerBlocksScratch.x.put(p.x)
	integerBlocksScratch.unit.put(p.unitX)
	integerBlocksScratch.y.put(p.y)
	integerBlocksScratch.limits.put(p.limits)
	if p.byTerms != nil {
		p.byTerms.release()
	}
}
