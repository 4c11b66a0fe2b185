package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tile of the group kernels has groupRows rows and two vectors of columns, a
// block of terms groupBlock terms. Terms are stored in quads: four terms of the
// first row or column, four of the second, and so on.
const (
	groupRows  = 4
	groupBlock = 64
)

// inexactFlag is the flag of an inexact operation in MXCSR, and clearMXCSR the
// control word of rounding to nearest with all exceptions masked and no flag
// set, towardZero that of rounding toward zero.
const (
	inexactFlag = 1 << 5
	clearMXCSR  = 0x1f80
	towardZero  = 0x7f80
)

// groups emits the sums of groups of small integers with scales, for a tile of
// C: for every block of 64 terms, in order,
//
//	t = Σ over the groups of size terms: A's scale × B's scale × Σ ab
//	c = c + t, rounded toward zero
//
// With a = 2x + 12 > 0 the sum over a group is an integer, computed with the
// offset of b alone: b + 12 and a are bytes without and with sign,
//
//	p = first + Σ a(b + 12),  first = M - 12 Σa,  M = bits of 1.5 × 2^23
//
// so that the bits p are those of the number 1.5 × 2^23 + Σab, and the first
// scaling takes the offset off:
//
//	t = t + sa × (sb × p - 1.5 × 2^23 × sb)
//
// All operations but the last addition must be exact. The processor tells: they
// set the flag of inexact operations in MXCSR if they are not, and the last
// addition, whose rounding is given in the instruction or is done in a second
// pass, does not. If the flag is set at the end, no sum is stored.
//
// At as are, for each group of terms, first for each row and then sa for each
// row; at bs are sb for each column and then 1.5 × 2^23 × -sb.
//
// Operations of 512 bits per 16 columns and 64 terms: 16 products, and for each
// group 2 (3 without VNNI), and 1. The products bound it: 1024 / (25 / 2) = 82
// multiply-adds a cycle with four groups, 1024 / (21 / 2) = 97 with two.
func (w width) groups(size int, vnni bool) {
	name := fmt.Sprintf("Groups%d_%d", size, w)
	if vnni {
		name = fmt.Sprintf("Groups%dVNNI", size)
	}
	TEXT(name, NOSPLIT, "func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int, t, z *float32, stride int) uint64")
	Doc(fmt.Sprintf("4 rows × %d columns: c += the sums of blocks > 0 blocks of 64 terms, scaled in groups of %d. If an operation", 2*w.lanes(), size),
		"but the additions to c is not exact, it returns a number other than 0 and c is as before. Memory for the sums",
		"of all blocks is at t. The rows at z, stride bytes apart, are fetched into the cache.")
	k := groupKernel{width: w, size: size, words: 2, vnni: vnni,
		a: param("a"), as: param("as"), b: param("b"), bs: param("bs")}
	rows, _ := rowAddresses(param("z"), param("stride"), groupRows)
	for _, row := range rows {
		for at := 0; at < 2*w.bytes(); at += 64 {
			PREFETCHT0(row.Offset(at))
		}
	}
	c, n := param("c"), param("blocks")
	saved, control := AllocLocal(8), AllocLocal(8)
	STMXCSR(saved)
	MOVL(U32(clearMXCSR), control)
	LDMXCSR(control)
	if !vnni {
		k.ones = k.wordsOf(1)
	}
	flags := GP32()
	if w == 512 {
		sums := w.vectors(2 * groupRows)
		for i, s := range sums {
			VMOVUPS(k.at(c, i), s)
		}
		loop("block", n, func() {
			for i, t := range k.block(0, groupRows) {
				VADDPS_RZ_SAE(t, sums[i], sums[i])
			}
			k.next()
		})
		k.inexact(flags, control)
		JNZ(LabelRef("done"))
		for i, s := range sums {
			VMOVUPS(s, k.at(c, i))
		}
	} else {
		// Half of the rows at a time, whose sums fit into the registers.
		t, count := param("t"), GP64()
		next := GP64()
		MOVQ(t, next)
		MOVQ(n, count)
		loop("block", count, func() {
			for r := 0; r < groupRows; r += 2 {
				for i, s := range k.block(r, r+2) {
					VMOVUPS(s, k.at(next, 2*r+i))
				}
			}
			k.next()
			ADDQ(U32(2*groupRows*w.bytes()), next)
		})
		k.inexact(flags, control)
		JNZ(LabelRef("done"))
		MOVL(U32(towardZero), control)
		LDMXCSR(control)
		sums := w.vectors(2 * groupRows)
		for i, s := range sums {
			VMOVUPS(k.at(c, i), s)
		}
		loop("add", n, func() {
			for i, s := range sums {
				VADDPS(k.at(t, i), s, s)
			}
			ADDQ(U32(2*groupRows*w.bytes()), t)
		})
		for i, s := range sums {
			VMOVUPS(s, k.at(c, i))
		}
	}
	Label("done")
	LDMXCSR(saved)
	VZEROUPPER()
	result := GP64()
	MOVL(flags, result.As32())
	Store(result, ReturnIndex(0))
	RET()
}

// groupsWide emits the same sums in binary64, row by row, for scales so far
// apart that the sum of a block is no number of binary32:
//
//	c = c + sa × (sb × p - 1.5 × 2^23 × sb)  for all groups of a block, exactly
//	c = c without the bits beyond those of binary32
//
// Operations of 512 bits per 16 columns and 64 terms: 16 products, for each
// group 8, and 2: 1024 / (50 / 2) = 41 multiply-adds a cycle with four groups.
func (w width) groupsWide(size int, vnni bool) {
	name := fmt.Sprintf("GroupsWide%d_%d", size, w)
	if vnni {
		name = fmt.Sprintf("GroupsWide%dVNNI", size)
	}
	TEXT(name, NOSPLIT, "func(c *float32, a *int8, as *uint32, b *uint8, bs *float32, blocks int)")
	Doc(fmt.Sprintf("4 rows × %d columns: as Groups%d, in binary64, in which all operations but the roundings of c must be exact.", 2*w.lanes(), size))
	k := groupKernel{width: w, size: size, words: 2, vnni: vnni}
	c, firstA, firstAS, firstB, firstBS := param("c"), param("a"), param("as"), param("b"), param("bs")
	blocks, n, row := param("blocks"), GP64(), GP64()
	k.a, k.as, k.b, k.bs = GP64(), GP64(), GP64(), GP64()
	if !vnni {
		k.ones = k.wordsOf(1)
	}
	// Without the last 53 - 24 bits.
	mask := w.vector()
	w.allOnes(mask)
	VPSLLQ(Imm(53-24), mask, mask)
	MOVQ(I32(groupRows), row)
	loop("row", row, func() {
		MOVQ(firstA, k.a)
		MOVQ(firstAS, k.as)
		MOVQ(firstB, k.b)
		MOVQ(firstBS, k.bs)
		MOVQ(blocks, n)
		sums := w.vectors(4)
		for h, s := range sums {
			VCVTPS2PD(Mem{Base: c}.Offset(h*w.bytes()/2), s)
		}
		loop("block", n, func() {
			for g := range groupBlock / size {
				p, scale := k.group(g, 0, 1), w.vector()
				VBROADCASTSS(Mem{Base: k.as}.Offset(k.row(g, groupRows)), w.half(scale))
				VCVTPS2PD(w.half(scale), scale)
				for v := range p {
					columns, x := w.vector(), w.vector()
					VMOVUPS(k.at(k.bs, 4*g+v), columns)
					VFMADD213PS(k.at(k.bs, 4*g+2+v), columns, p[v])
					VCVTPS2PD(w.half(p[v]), x)
					VFMADD231PD(scale, x, sums[2*v])
					w.upper(p[v], x)
					VCVTPS2PD(w.half(x), x)
					VFMADD231PD(scale, x, sums[2*v+1])
				}
			}
			for _, s := range sums {
				w.and(mask, s, s)
			}
			k.next()
		})
		for h, s := range sums {
			w.narrow(s, s)
			VMOVUPS(w.half(s), Mem{Base: c}.Offset(h*w.bytes()/2))
		}
		ADDQ(U32(2*w.bytes()), c)
		ADDQ(U32(4), firstA)
		ADDQ(U32(4), firstAS)
	})
	VZEROUPPER()
	RET()
}

// groupsCut emits the sums of groups where bits are cut off: row by row and for
// one vector of columns after the other, in binary64,
//
//	top = the greatest of |c|'s power of two, that of a zero, and pa × pb for all
//	      groups with a product other than 0
//	c = Σ trunc(2^F / top × c or term) × top / 2^F, without the bits beyond 24
//
// with the terms sa × (sb × p - 1.5 × 2^23 × sb) of [width.groups]. At as are,
// for each row, first, sa, pa and a mask of the terms other than 0; at bs are,
// for each column, sb, 1.5 × 2^23 × -sb, pb and the mask.
//
// The quotients of powers of two are differences of the bits. All numbers are
// normal, all products by powers of two and all sums of integers, less than
// 2^53, exact. A sum of zeros is +0, as 0 is added to it.
//
// Operations of 512 bits per 16 columns and 64 terms: 16 products, for each
// group 19, and 21: 1024 / (113 / 2) = 18 multiply-adds a cycle.
func (w width) groupsCut(vnni bool) {
	name := fmt.Sprintf("GroupsCut_%d", w)
	if vnni {
		name = "GroupsCutVNNI"
	}
	TEXT(name, NOSPLIT, "func(c, zero *float64, a *int8, as *uint32, b *uint8, bs *float32, blocks int, fraction int)")
	Doc(fmt.Sprintf("4 rows × %d columns: c += the sums of blocks > 0 blocks of 64 terms, scaled in groups of 16, with fraction bits", 2*w.lanes()),
		"below the greatest power of two. Those of zeros are at zero.")
	k := groupKernel{width: w, size: 16, words: 4, vnni: vnni}
	c, zeros, firstA, firstAS, firstB, firstBS := param("c"), param("zero"), param("a"), param("as"), param("b"), param("bs")
	n, row, fraction := GP64(), GP64(), AllocLocal(16)
	k.a, k.as, k.b, k.bs = GP64(), GP64(), GP64(), GP64()
	if !vnni {
		k.ones = k.wordsOf(1)
	}
	// 2^F / x has the bits 2 × 1023 + F - e, and x / 2^F has e - F.
	bits := GP64()
	Load(Param("fraction"), bits)
	SHLQ(Imm(52), bits)
	MOVQ(bits, fraction)
	MOVQ(U64(2*1023<<52), n)
	ADDQ(n, bits)
	MOVQ(bits, fraction.Offset(8))
	MOVQ(I32(groupRows), row)
	loop("row", row, func() {
		MOVQ(firstA, k.a)
		MOVQ(firstAS, k.as)
		MOVQ(firstB, k.b)
		MOVQ(firstBS, k.bs)
		Load(Param("blocks"), n)
		loop("block", n, func() {
			for v := range 2 {
				k.cut(v, c, zeros, fraction)
			}
			k.next()
		})
		ADDQ(U32(4*w.bytes()), c)
		ADDQ(U32(4*w.bytes()), zeros)
		ADDQ(U32(4), firstA)
		ADDQ(U32(4), firstAS)
	})
	VZEROUPPER()
	RET()
}

// cut emits a block of groupsCut for vector v of the columns.
func (k *groupKernel) cut(v int, c, zeros reg.Register, fraction Mem) {
	var terms []reg.VecVirtual
	powers := k.vector()
	for g := range groupBlock / k.size {
		p, scale, power := k.groupOf(g, 0, 1, v, v+1)[0], k.vector(), k.vector()
		VMOVUPS(k.at(k.bs, 8*g+v), scale)
		VFMADD213PS(k.at(k.bs, 8*g+2+v), scale, p)
		terms = append(terms, p)
		k.notZero(g, v, power)
		if g == 0 {
			powers = power
		} else {
			VMAXPS(power, powers, powers)
		}
	}
	for h := range 2 {
		at := 2*v + h
		x, top, grid, total := k.vector(), k.vector(), k.vector(), k.vector()
		k.widen(powers, h, top)
		VMAXPD(k.at(zeros, at), top, top)
		VMOVUPS(k.at(c, at), total)
		k.power(total, x)
		VMAXPD(x, top, top)
		VPBROADCASTQ(fraction.Offset(8), grid)
		VPSUBQ(top, grid, grid)
		VMULPD(grid, total, total)
		k.truncate(total, total)
		k.zero(x)
		VADDPD(x, total, total)
		for g, term := range terms {
			y, scale := k.vector(), k.vector()
			VBROADCASTSS(Mem{Base: k.as}.Offset(k.row(g, groupRows)), k.half(scale))
			VCVTPS2PD(k.half(scale), scale)
			VMULPD(grid, scale, scale)
			k.widen(term, h, y)
			VMULPD(scale, y, y)
			k.truncate(y, y)
			VADDPD(y, total, total)
		}
		VPBROADCASTQ(fraction, x)
		VPSUBQ(x, top, top)
		VMULPD(top, total, total)
		VPSRLQ(Imm(53-24), total, total)
		VPSLLQ(Imm(53-24), total, total)
		VMOVUPS(total, k.at(c, at))
	}
}

// notZero emits power = pa × pb of group g where there is a product other than
// 0, and 0 elsewhere.
func (k *groupKernel) notZero(g, v int, power reg.VecVirtual) {
	mask, row := k.vector(), k.broadcast(k.as, k.row(g, 2*groupRows))
	VPBROADCASTD(Mem{Base: k.as}.Offset(k.row(g, 3*groupRows)), mask)
	if k.width == 512 {
		some := K()
		VPTESTMD(k.at(k.bs, 8*g+6+v), mask, some)
		VMULPS_Z(k.at(k.bs, 8*g+4+v), row, some, power)
		return
	}
	none := k.vector()
	VPAND(k.at(k.bs, 8*g+6+v), mask, mask)
	k.zero(none)
	VPCMPEQD(none, mask, mask)
	VMULPS(k.at(k.bs, 8*g+4+v), row, power)
	VPANDN(power, mask, power)
}

// widen emits y = half h of x in binary64.
func (k *groupKernel) widen(x reg.VecVirtual, h int, y reg.VecVirtual) {
	if h == 0 {
		VCVTPS2PD(k.half(x), y)
		return
	}
	k.upper(x, y)
	VCVTPS2PD(k.half(y), y)
}

// power emits y = the power of two of |x|, or 0 for 0: its exponent field.
func (k *groupKernel) power(x, y reg.VecVirtual) {
	VPSLLQ(Imm(1), x, y)
	VPSRLQ(Imm(53), y, y)
	VPSLLQ(Imm(52), y, y)
}

// truncate emits y = x truncated to an integer.
func (k *groupKernel) truncate(x, y reg.VecVirtual) {
	if k.width == 256 {
		VROUNDPD(Imm(3), x, y)
	} else {
		VRNDSCALEPD(Imm(3), x, y)
	}
}

// half is the lower half of a register.
func (w width) half(v reg.VecVirtual) reg.Register {
	if w == 256 {
		return v.AsX()
	}
	return v.AsY()
}

// upper emits y = the upper half of x.
func (w width) upper(x, y reg.VecVirtual) {
	if w == 256 {
		VEXTRACTF128(Imm(1), x, w.half(y))
	} else {
		VEXTRACTF32X8(Imm(1), x, w.half(y))
	}
}

// narrow emits y = x in binary32.
func (w width) narrow(x, y reg.VecVirtual) {
	if w == 256 {
		VCVTPD2PSY(x, w.half(y))
	} else {
		VCVTPD2PS(x, w.half(y))
	}
}

// allOnes emits v = all bits set.
func (w width) allOnes(v reg.VecVirtual) {
	if w == 256 {
		VPCMPEQD(v, v, v)
	} else {
		VPTERNLOGD(Imm(0xff), v, v, v)
	}
}

// groupKernel is a kernel being emitted.
type groupKernel struct {
	width
	size         int // terms of a group
	words        int // for a row and a group at as
	vnni         bool
	a, as, b, bs reg.Register
	ones         reg.VecVirtual
}

// at returns the address of a vector.
func (k *groupKernel) at(base reg.Register, i int) Mem { return Mem{Base: base}.Offset(i * k.bytes()) }

// wordsOf returns a vector of words x.
func (k *groupKernel) wordsOf(x int) reg.VecVirtual {
	scalar, v := GP32(), k.vector()
	MOVL(U32(x<<16|x), scalar)
	half := XMM()
	VMOVD(scalar, half)
	VPBROADCASTD(half, v)
	return v
}

// block emits the sums t of a block for the rows [lo, hi), row by row.
func (k *groupKernel) block(lo, hi int) []reg.VecVirtual {
	sums := k.vectors(2 * (hi - lo))
	for g := range groupBlock / k.size {
		p := k.group(g, lo, hi)
		for v := range 2 {
			scale, offset := k.vector(), k.vector()
			VMOVUPS(k.at(k.bs, 4*g+v), scale)
			VMOVUPS(k.at(k.bs, 4*g+2+v), offset)
			for r := lo; r < hi; r++ {
				VFMADD213PS(offset, scale, p[2*(r-lo)+v])
			}
		}
		for r := lo; r < hi; r++ {
			scale := k.broadcast(k.as, k.row(g, groupRows+r))
			for v := range 2 {
				i := 2*(r-lo) + v
				if g == 0 {
					VMULPS(scale, p[i], sums[i])
				} else {
					VFMADD231PS(scale, p[i], sums[i])
				}
			}
		}
	}
	return sums
}

// group emits the bits p of group g for the rows [lo, hi), row by row.
func (k *groupKernel) group(g, lo, hi int) []reg.VecVirtual {
	return k.groupOf(g, lo, hi, 0, 2)
}

// groupOf is group for the vectors [first, last) of columns.
func (k *groupKernel) groupOf(g, lo, hi, first, last int) []reg.VecVirtual {
	n := last - first
	p := k.vectors(n * (hi - lo))
	for q := range k.size / 4 {
		y := k.vectors(n)
		at := g*k.size/4 + q
		for v := range y {
			VMOVUPS(k.at(k.b, 2*at+first+v), y[v])
		}
		for r := lo; r < hi; r++ {
			x := k.broadcast(k.a, 4*(at*groupRows+r))
			if k.vnni && q == 0 {
				start := k.broadcast(k.as, k.row(g, r))
				for v := range y {
					VMOVDQA32(start, p[n*(r-lo)+v])
				}
			}
			for v := range y {
				z := p[n*(r-lo)+v]
				switch {
				case k.vnni:
					VPDPBUSD(x, y[v], z)
				case q == 0:
					VPMADDUBSW(x, y[v], z)
				default:
					t := k.vector()
					VPMADDUBSW(x, y[v], t)
					VPADDW(t, z, z)
				}
			}
		}
	}
	if k.vnni {
		return p
	}
	for r := lo; r < hi; r++ {
		start := k.broadcast(k.as, k.row(g, r))
		for v := range n {
			z := p[n*(r-lo)+v]
			VPMADDWD(k.ones, z, z)
			VPADDD(start, z, z)
		}
	}
	return p
}

// row returns the offset of number i of group g at as.
func (k *groupKernel) row(g, i int) int { return 4 * (k.words*groupRows*g + i) }

// broadcast emits the load of four bytes into all lanes.
func (k *groupKernel) broadcast(base reg.Register, offset int) reg.VecVirtual {
	v := k.vector()
	VPBROADCASTD(Mem{Base: base}.Offset(offset), v)
	return v
}

// next advances to the next block.
func (k *groupKernel) next() {
	groups := groupBlock / k.size
	ADDQ(U32(groupBlock*groupRows), k.a)
	ADDQ(U32(4*k.words*groupRows*groups), k.as)
	ADDQ(U32(groupBlock*2*k.lanes()), k.b)
	ADDQ(U32(2*k.words*k.bytes()*groups), k.bs)
}

// inexact emits flags = the flag of inexact operations, and sets the zero flag
// if it is not set.
func (k *groupKernel) inexact(flags reg.Register, control Mem) {
	STMXCSR(control)
	MOVL(control, flags)
	ANDL(U32(inexactFlag), flags)
}

// groupScale emits the scaling of a tile of sums by powers of two: for each row
// one, times for each column one.
func (w width) groupScale() {
	TEXT(fmt.Sprintf("GroupScale_%d", w), NOSPLIT, "func(z *float32, stride int, c, rows, columns *float32)")
	Doc(fmt.Sprintf("4 rows × %d columns: z = c × (rows × columns), stride in bytes.", 2*w.lanes()))
	z, stride, c, rows, columns := param("z"), param("stride"), param("c"), param("rows"), param("columns")
	results, _ := rowAddresses(z, stride, groupRows)
	column := w.vectors(2)
	for v := range column {
		VMOVUPS(Mem{Base: columns}.Offset(v*w.bytes()), column[v])
	}
	for r, result := range results {
		row := w.vector()
		VBROADCASTSS(Mem{Base: rows}.Offset(4*r), row)
		for v := range column {
			s := w.vector()
			VMULPS(row, column[v], s)
			VMULPS(Mem{Base: c}.Offset((2*r+v)*w.bytes()), s, s)
			VMOVUPS(s, result.Offset(v*w.bytes()))
		}
	}
	VZEROUPPER()
	RET()
}

// groupTables are the offsets of what GroupRows and GroupColumns read: for each
// code of 4 bits the number, the number plus the offset, and the magnitude, in
// bytes; then the offset and the first p of a group of zeros, in 4 bytes each.
const (
	offNumber      = 0
	offShifted     = 16
	offSize        = 32
	offGroupOffset = 48
	offGroupFirst  = 52
)

// table emits the load of 16 bytes.
func table(p reg.Register, offset int) reg.VecVirtual {
	v := XMM()
	VMOVDQU(Mem{Base: p}.Offset(offset), v)
	return v
}

// packGroupRows emits the packing of codes of four rows: quads of the four
// rows, and for each group and row the first p, which is first - offset × Σa,
// and the sum of the magnitudes, which is 0 where all numbers are.
//
// A row of 16 codes is a vector: VPSHUFB looks the numbers up, and VPSADBW adds
// bytes without sign, so that Σa is Σ(a + offset) - 16 offset.
func packGroupRows() {
	TEXT("GroupRows", NOSPLIT, "func(dst *int8, first *uint32, sizes *uint32, src *uint8, stride int, groups int, parts int, p *uint8)")
	Doc("Packs groups > 0 groups of parts × 16 codes of 4 rows, stride bytes apart; groupTables are at p.",
		"first and sizes of the groups are 8 and 4 words apart.")
	dst, first, sizes, src, stride := param("dst"), param("first"), param("sizes"), param("src"), param("stride")
	groups, parts, p := param("groups"), param("parts"), param("p")
	number, shifted, size, zero := table(p, offNumber), table(p, offShifted), table(p, offSize), XMM()
	VPXOR(zero, zero, zero)
	rows, pointers := rowAddresses(src, stride, groupRows)
	// lookUp emits the numbers of the codes of row r.
	lookUp := func(r int, table reg.VecVirtual) reg.VecVirtual {
		x := XMM()
		VMOVDQU(rows[r], x)
		VPSHUFB(x, table, x)
		return x
	}
	// add emits sum += the sums of the numbers without sign of each row.
	add := func(sum, table reg.VecVirtual) {
		var pairs [2]reg.VecVirtual
		for i := range pairs {
			u, v, low := lookUp(2*i, table), lookUp(2*i+1, table), XMM()
			VPSADBW(zero, u, u)
			VPSADBW(zero, v, v)
			VPUNPCKLQDQ(v, u, low)
			VPUNPCKHQDQ(v, u, u)
			VPADDD(low, u, u)
			pairs[i] = u
		}
		VSHUFPS(Imm(0x88), pairs[1], pairs[0], pairs[0])
		VPADDD(pairs[0], sum, sum)
	}
	loop("group", groups, func() {
		part, sum, total := GP64(), XMM(), XMM()
		MOVQ(parts, part)
		VPXOR(sum, sum, sum)
		VPXOR(total, total, total)
		loop("part", part, func() {
			add(sum, shifted)
			add(total, size)
			var n [groupRows]reg.VecVirtual
			for r := range n {
				n[r] = lookUp(r, number)
			}
			for half, unpack := range []func(...Op){VPUNPCKLDQ, VPUNPCKHDQ} {
				x, y, z := XMM(), XMM(), XMM()
				unpack(n[1], n[0], x)
				unpack(n[3], n[2], y)
				VPUNPCKLQDQ(y, x, z)
				VMOVDQU(z, Mem{Base: dst}.Offset(32*half))
				VPUNPCKHQDQ(y, x, z)
				VMOVDQU(z, Mem{Base: dst}.Offset(32*half+16))
			}
			ADDQ(U32(64), dst)
			for _, q := range pointers {
				ADDQ(U32(16), q)
			}
		})
		offset, start := XMM(), XMM()
		VPBROADCASTD(Mem{Base: p}.Offset(offGroupOffset), offset)
		VPBROADCASTD(Mem{Base: p}.Offset(offGroupFirst), start)
		VPMULLD(offset, sum, sum)
		VPSUBD(sum, start, sum)
		VMOVDQU(sum, Mem{Base: first})
		VMOVDQU(total, Mem{Base: sizes})
		ADDQ(U32(32), first)
		ADDQ(U32(16), sizes)
	})
	RET()
}

// packGroupColumns emits the packing of codes of 16 columns: quads, and for
// each group and column the union of the bits of the magnitudes, which is 0
// where all numbers are.
func packGroupColumns() {
	TEXT("GroupColumns", NOSPLIT, "func(dst *uint8, step int, sizes *uint8, src *uint8, stride int, groups int, quads int, p *uint8)")
	Doc("Packs groups > 0 groups of quads × 4 codes of 16 columns, of rows stride bytes apart; groupTables are at p.",
		"The quads are step bytes apart, the sizes of the groups 16 bytes.")
	dst, step, sizes, src, stride := param("dst"), param("step"), param("sizes"), param("src"), param("stride")
	groups, quads, p := param("groups"), param("quads"), param("p")
	shifted, size := table(p, offShifted), table(p, offSize)
	rows, _ := rowAddresses(src, stride, 4)
	loop("group", groups, func() {
		quad, union := GP64(), XMM()
		MOVQ(quads, quad)
		VPXOR(union, union, union)
		loop("quad", quad, func() {
			var n [4]reg.VecVirtual
			for r := range n {
				codes, m := XMM(), XMM()
				n[r] = XMM()
				VMOVDQU(rows[r], codes)
				VPSHUFB(codes, shifted, n[r])
				VPSHUFB(codes, size, m)
				VPOR(m, union, union)
			}
			for half, unpack := range []func(...Op){VPUNPCKLBW, VPUNPCKHBW} {
				x, y, z := XMM(), XMM(), XMM()
				unpack(n[1], n[0], x)
				unpack(n[3], n[2], y)
				VPUNPCKLWD(y, x, z)
				VMOVDQU(z, Mem{Base: dst}.Offset(32*half))
				VPUNPCKHWD(y, x, z)
				VMOVDQU(z, Mem{Base: dst}.Offset(32*half+16))
			}
			ADDQ(step, dst)
			LEAQ(Mem{Base: src, Index: stride, Scale: 4}, src)
		})
		VMOVDQU(union, Mem{Base: sizes})
		ADDQ(U32(16), sizes)
	})
	RET()
}

// encodePairs emits the codes of binary32 numbers in a format whose least
// exponent is 0 and whose numbers have two bits, to nearest even. With m = |x|,
// at most the greatest number, and 2^e <= max(m, 1) < 2^(e+1),
//
//	code = 2e + m 2^(1-e), rounded to an integer
//
// as numbers of exponent e have the codes 2e + 2 and 2e + 3, are 2 and 3 times
// 2^(e-1), and m < 1 counts in halves, as do the numbers of exponent 0. A NaN
// is replaced by the greatest number.
func encodePairs() {
	lanes := GLOBL("lanes", RODATA|NOPTR)
	for i, lane := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(lane))
	}
	TEXT("EncodePairs", NOSPLIT, "func(dst *uint8, src *float32, n int, greatest float32)")
	Doc("Codes of 4 bits of numbers of two bits, the least exponent being 0; n is a positive multiple of 32.")
	dst, src, n := param("dst"), param("src"), param("n")
	scalar, greatest, absolute, exponent, one, sign := GP32(), YMM(), YMM(), YMM(), YMM(), YMM()
	VBROADCASTSS(NewParamAddr("greatest", 24), greatest)
	constant := func(bits uint32, v reg.VecVirtual) {
		MOVL(U32(bits), scalar)
		VMOVD(scalar, v.AsX())
		VPBROADCASTD(v.AsX(), v)
	}
	constant(1<<31-1, absolute)
	constant(0xff<<23, exponent)
	constant(127<<23, one)
	constant(8, sign)
	order := YMM()
	VMOVDQU(lanes, order)
	SHRQ(Imm(5), n)
	loop("next", n, func() {
		var codes [4]reg.VecVirtual
		for i := range codes {
			x, m, e, t := YMM(), YMM(), YMM(), YMM()
			codes[i] = e
			VMOVUPS(Mem{Base: src}.Offset(32*i), x)
			VPAND(x, absolute, m)
			VMINPS(greatest, m, m) // greatest for a NaN
			VMAXPS(one, m, e)
			VPAND(exponent, e, e)
			VPSUBD(e, exponent, t) // 2^(1-e)
			VMULPS(t, m, m)
			VCVTPS2DQ(m, m)
			VPSUBD(one, e, e)
			VPSRLD(Imm(22), e, e)
			VPADDD(m, e, e)
			VCMPPS(Imm(7), x, x, t) // x is a number
			VPSRLD(Imm(28), x, x)
			VPAND(sign, x, x)
			VPAND(t, x, x)
			VPADDD(x, e, e)
		}
		VPACKSSDW(codes[1], codes[0], codes[0])
		VPACKSSDW(codes[3], codes[2], codes[2])
		VPACKUSWB(codes[2], codes[0], codes[0])
		VPERMD(codes[0], order, codes[0])
		VMOVDQU(codes[0], Mem{Base: dst})
		ADDQ(U32(128), src)
		ADDQ(U32(32), dst)
	})
	VZEROUPPER()
	RET()
}
