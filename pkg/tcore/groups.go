package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
)

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
	tiling
	d      *Device
	kernel groupKernel
	source [2]Codes
	scales int // of a row or column, in whole blocks

	a, b    groupOperand
	quadsA  []int8 // and what package vector reads beside them
	scalesA []uint32
	quadsB  []uint8
	scalesB []float32
	cut     *groupCut
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
	p := &groupProduct{d: d, kernel: kernel, source: [2]Codes{a, b},
		tiling: tiling{m: a.Rows, n: b.Cols, k: d.padded(a.Cols), rows: groupRows, columns: kernel.columns}}
	p.scales = p.k / d.ScaleBlock
	scales, tables := groupScales(d.Scale), newGroupTables(d.ScaleBlock)
	parallel.Loops(p.packRows(scales, tables), p.packColumns(scales, tables))
	p.cut = &groupCut{p: p, scales: scales, tables: tables, one: d.unitScales(1)[0]}
	return p, true
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

// addTo divides the operand with more tiles, since every part reads all of the
// other one.
func (p *groupProduct) addTo(c, z blas32.General) {
	strip := max(1, groupCache/(groupRows*p.k))
	p.divide(p.panels() > p.groups(), func(groupLo, groupHi, panelLo, panelHi int) {
		w := newGroupStrip(p, c, z, min(strip, groupHi-groupLo))
		defer w.release()
		for lo := groupLo; lo < groupHi; lo += strip {
			for panel := panelLo; panel < panelHi; panel++ {
				w.compute(lo, min(lo+strip, groupHi), panel)
			}
		}
	})
}
