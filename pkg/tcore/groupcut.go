package tcore

import (
	"math"
	"sync"

	"github.com/roundofflab/roundoff/internal/matrix"
)

// groupCut is what tiles take besides, where bits are cut off: for each group
// of 16 terms of a row, what the cut routine of package vector reads, and the
// same for columns. Each tile of an operand is prepared when it is first
// needed.
type groupCut struct {
	p            *groupProduct
	scales       *[256]groupScale
	tables       *groupTables
	one          uint8 // the code of a scale of 1
	once         sync.Once
	onceA, onceB []sync.Once
	a            []uint32
	b            []float32
}

// groupMostBits is the greatest F for which a sum of truncated terms, less than
// 2^(F+14) units, is exact in binary64.
const groupMostBits = 38

// groupMostSpread is the greatest spread of the scales of a row or column for
// which their products, divided by 2^least, are numbers of binary32.
const groupMostSpread = 60

// rowWords and columnWords are the words of a tile of an operand.
func (g *groupCut) rowWords() int    { return g.p.k / 16 * 4 * groupRows }
func (g *groupCut) columnWords() int { return g.p.k / 16 * 4 * g.p.columns }

// operands returns what belongs to a tile of A and one of B.
func (g *groupCut) operands(group, panel int) (a []uint32, b []float32) {
	g.once.Do(func() {
		g.onceA, g.a = make([]sync.Once, g.p.groups()), make([]uint32, g.p.groups()*g.rowWords())
		g.onceB, g.b = make([]sync.Once, g.p.panels()), make([]float32, g.p.panels()*g.columnWords())
	})
	a, b = g.a[group*g.rowWords():][:g.rowWords()], g.b[panel*g.columnWords():][:g.columnWords()]
	g.onceA[group].Do(func() { g.prepareRows(a, group) })
	g.onceB[panel].Do(func() { g.prepareColumns(b, panel) })
	return a, b
}

// describe returns the scale, its power of two, both divided by 2^least, the
// sum of the numbers, doubled, and the mask of those other than 0, of group
// index of row i of A or of column i of B.
func (g *groupCut) describe(operand, index, i int) (scale, power float32, sum int, mask uint32) {
	m, vectors := g.p.source[operand], g.p.a.vectors
	first, step, k, at, one := i*m.Cols, 1, m.Cols, 0, g.one
	blocks := (k + g.p.d.ScaleBlock - 1) / g.p.d.ScaleBlock
	block := index * 16 / g.p.d.ScaleBlock
	at = i*blocks + block
	if operand == 1 {
		first, step, k, vectors = i, m.Cols, m.Rows, g.p.b.vectors
		at = block*m.Cols + i
	}
	for l := index * 16; l < min(index*16+16, k); l++ {
		code := m.Data[first+l*step]
		sum += int(int8(g.tables.number[code]))
		if g.tables.size[code] != 0 {
			mask |= 1 << (l % 16)
		}
	}
	if mask == 0 {
		return 0, 1, 0, 0
	}
	if len(m.Scales) > 0 {
		one = m.Scales[at]
	}
	s := &g.scales[one]
	if s.significand == 0 {
		return 0, 1, sum, 0
	}
	power = vectors[i].power(s)
	return s.significand * power, power, sum, mask
}

func (g *groupCut) prepareRows(a []uint32, group int) {
	for index := range g.p.k / 16 {
		z := a[index*4*groupRows:]
		for r := range groupRows {
			sum, power, scale, mask := 0, float32(1), float32(0), uint32(0)
			if i := group*groupRows + r; i < g.p.m {
				scale, power, sum, mask = g.describe(0, index, i)
			}
			z[r] = uint32(int(math.Float32bits(groupAnchor)) - groupOffset*sum)
			z[groupRows+r] = math.Float32bits(scale)
			z[2*groupRows+r] = math.Float32bits(power)
			z[3*groupRows+r] = mask
		}
	}
}

func (g *groupCut) prepareColumns(b []float32, panel int) {
	columns := g.p.columns
	for index := range g.p.k / 16 {
		z := b[index*4*columns:]
		for c := range columns {
			power, scale, mask := float32(1), float32(0), uint32(0)
			if j := panel*columns + c; j < g.p.n {
				scale, power, _, mask = g.describe(1, index, j)
			}
			z[c], z[columns+c] = scale/4, -groupAnchor*scale/4 // factors are doubled
			z[2*columns+c], z[3*columns+c] = power, math.Float32frombits(mask)
		}
	}
}

// cutTile computes a tile where bits may be cut off. It returns false where a
// number may be subnormal, an infinity or a NaN.
//
// A term other than 0 has E >= least, the least sum of two exponents, and sums
// are multiples of 2^(E*-F), so that none is subnormal if least - F >= Emin.
func (w *groupStrip) cutTile(group, panel int) bool {
	f, x, y := w.d.Core.(Fused), &w.a.tiles[group], &w.b.tiles[panel]
	most := float64(36*w.d.ScaleBlock) * x.norm * y.norm * exp2(x.greatest+y.greatest)
	if x.hasNaN || y.hasNaN || max(x.spread, y.spread) > groupMostSpread || x.least+y.least-f.FractionBits < Binary32.Emin {
		return false
	}
	if !(most < exp2(Binary32.Emax)) {
		return false
	}
	columns := w.columns
	memory := make([]float64, 2*groupRows*columns+columns)
	sums, zeros, powers := memory[:groupRows*columns], memory[groupRows*columns:][:groupRows*columns], memory[2*groupRows*columns:]
	for c := range powers {
		powers[c] = exp2(int(w.b.vectors[panel*columns+c].least))
	}
	height, width := w.tileSize(group, panel)
	for r := range groupRows {
		power := exp2(int(w.a.vectors[group*groupRows+r].least))
		zero := exp2(f.ZeroExponent)
		for c, p := range powers {
			zeros[r*columns+c] = zero / (power * p)
		}
		if w.c.Data == nil || r >= height {
			continue
		}
		for c, x := range matrix.Row(w.c, group*groupRows+r)[panel*columns:][:width] {
			v := math.Abs(float64(x))
			if !(v+most < exp2(Binary32.Emax)) || v > 0 && v < exp2(Binary32.Emin) {
				return false
			}
			sums[r*columns+c] = float64(x) / (power * powers[c])
		}
	}
	as, bs := w.cut.operands(group, panel)
	w.kernel.cut(&sums[0], &zeros[0], &w.quadsA[group*groupRows*w.k], &as[0], &w.quadsB[panel*columns*w.k], &bs[0],
		w.k/groupBlock, f.FractionBits)
	groupCutPath.count(groupRows, w.k, columns)
	for r := range height {
		z := matrix.Row(w.z, group*groupRows+r)[panel*columns:]
		power := exp2(int(w.a.vectors[group*groupRows+r].least))
		for c := range width {
			z[c] = float32(sums[r*columns+c] * (power * powers[c]))
		}
	}
	return true
}
