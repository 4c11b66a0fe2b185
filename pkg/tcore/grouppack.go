package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/parallel"
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

// packRows returns the loop that packs the groups of rows.
func (p *groupProduct) packRows(scales *[256]groupScale, tables *groupTables) parallel.Loop {
	src, size, groups := p.source[0], p.d.ScaleBlock, p.scales
	p.quadsA = groupScratch.a.get(p.groups() * groupRows * p.k)
	p.scalesA = groupScratch.as.get(p.groups() * groups * 2 * groupRows)
	p.a = newGroupOperand(p.groups(), groupRows)
	blocks := (src.Cols + size - 1) / size
	ones := p.d.unitScales(blocks)
	return parallel.Loop{N: p.groups(), Work: func(lo, hi int) {
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
	}}
}

// packColumns returns the loop that packs the panels.
func (p *groupProduct) packColumns(scales *[256]groupScale, tables *groupTables) parallel.Loop {
	src, size, groups, columns := p.source[1], p.d.ScaleBlock, p.scales, p.columns
	p.quadsB = groupScratch.b.get(p.panels() * columns * p.k)
	p.scalesB = groupScratch.bs.get(p.panels() * groups * 2 * columns)
	p.b = newGroupOperand(p.panels(), columns)
	blocks := (src.Rows + size - 1) / size
	ones := p.d.unitScales(columns)
	return parallel.Loop{N: p.panels(), Work: func(lo, hi int) {
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
	}}
}
