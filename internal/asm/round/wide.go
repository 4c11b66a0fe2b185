package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A wideKernel is a kernel in 512 bits (AVX-512 F, DQ). Its constants are in
// registers. Its stores go past the caches where stream is not 0: dst is then
// aligned to 64 bytes.
type wideKernel struct {
	kernel
	stream    reg.GPVirtual
	constants map[int]reg.VecVirtual
	stores    *int // how many were emitted, for their labels
}

func beginWide(name string, v variant, parameters string, constants ...int) wideKernel {
	k := wideKernel{begin(name+"512", v, parameters+", stream int"), GP64(), map[int]reg.VecVirtual{}, new(int)}
	Load(Param("stream"), k.stream)
	constants = append(constants, rowMagnitude, rowExponent, rowMinNormal, rowAdder, rowOverflow)
	if v.zeros {
		constants = append(constants, rowLeast, rowZero)
	}
	if v.finite {
		constants = append(constants, rowInfinity)
	}
	for _, row := range constants {
		c := ZMM()
		VBROADCASTSD(k.row(row), c)
		k.constants[row] = c
	}
	return k
}

// load returns eight elements and their magnitudes, as kernel.load does.
func (k wideKernel) load(offset int) (x, a reg.VecVirtual) {
	x, a = ZMM(), ZMM()
	VMOVUPD(k.at(k.src, offset), x)
	if k.finite {
		VMINPD(k.constants[rowInfinity], x, x)
	}
	VANDPD(k.constants[rowMagnitude], x, a)
	return x, a
}

// power returns the exponent of max(a, 2^Emin) as kernel.power does.
func (k wideKernel) power(a reg.VecVirtual) reg.VecVirtual {
	e := ZMM()
	VMAXPD(k.constants[rowMinNormal], a, e)
	VANDPD(k.constants[rowExponent], e, e)
	return e
}

// store stores the magnitudes r with the signs of x.
func (k wideKernel) store(offset int, r, x reg.VecVirtual) {
	if k.zeros {
		keep := K()
		VCMPPD(unorderedGE, k.constants[rowLeast], r, keep)
		VMOVAPD_Z(r, keep, r)
	}
	const orAndNot = 0xf4 // the bits of r | x &^ magnitude for r, x, magnitude = 0 to 7
	VPTERNLOGQ(U8(orAndNot), k.constants[rowMagnitude], x, r)
	if k.zeros {
		VADDPD(k.constants[rowZero], r, r)
	}
	*k.stores++
	past, stored := fmt.Sprintf("past%d", *k.stores), fmt.Sprintf("stored%d", *k.stores)
	TESTQ(k.stream, k.stream)
	JNZ(LabelRef(past))
	VMOVUPD(r, k.at(k.dst, offset))
	JMP(LabelRef(stored))
	Label(past)
	VMOVNTPD(r, k.at(k.dst, offset))
	Label(stored)
}

// end closes the loop, and orders the stores past the caches before what
// follows.
func (k wideKernel) end(step uint64) {
	k.kernel.end(step)
	SFENCE()
	RET()
}

// nearestWide emits the rounding of nearest for n elements, a positive multiple
// of 16.
func nearestWide(v variant) {
	k := beginWide("roundNearest", v, "", rowThreshold)
	Label("loop")
	for offset := 0; offset < 16; offset += 8 {
		x, a := k.load(offset)
		m := k.power(a)
		VPADDQ(k.constants[rowAdder], m, m)
		r, over := ZMM(), K()
		VADDPD(m, a, r)
		VSUBPD(m, r, r)
		VCMPPD(orderedGE, k.constants[rowThreshold], a, over)
		VMOVAPD(k.constants[rowOverflow], over, r)
		k.store(offset, r, x)
	}
	k.end(16)
}

// stochasticWide emits the rounding of stochastic for n elements, a positive
// multiple of 32, by eight Philox blocks for every 32 elements: the words j of
// blocks 0 to 3 belong to elements 4j to 4j + 3, and those of blocks 4 to 7 to
// the elements 16 later. Instructions themselves say that they round toward
// zero.
func stochasticWide(v variant) {
	k := beginWide("roundStochastic", v, ", counters *[4]uint64", rowQuantum, rowNext, rowClamp, rowMax, rowRandomBits,
		rowMultiplier0, rowMultiplier1)
	p, step := GP64(), GP64()
	Load(Param("counters"), p)
	counter, four, eight := ZMM(), ZMM(), ZMM()
	MOVQ(U32(4), step)
	VPBROADCASTQ(step, four)
	VPADDQ(four, four, eight)
	VBROADCASTI64X4(Mem{Base: p}, counter)
	upper, mask := GP32(), K()
	MOVL(U32(0xf0), upper)
	KMOVW(upper, mask)
	VPADDQ(four, counter, mask, counter)

	Label("loop")
	w := k.philox(counter)
	for j := 0; j < 4; j += 2 {
		for half, order := range []U8{0x44, 0xee} { // the lower halves of two words, and the upper ones
			word := ZMM()
			VSHUFI64X2(order, w[j+1], w[j], word)
			k.roundBy(16*half+4*j, word)
		}
	}
	VPADDQ(eight, counter, counter)
	k.end(32)
}

// philox returns the four words of the blocks of eight counters, as
// kernel.philox does.
func (k wideKernel) philox(counter reg.VecVirtual) [4]reg.VecVirtual {
	c := [4]reg.VecVirtual{ZMM(), ZMM(), ZMM(), ZMM()}
	VMOVDQA64(counter, c[0])
	VPSRLQ(Imm(32), counter, c[1])
	VPXORD(c[2], c[2], c[2])
	VPXORD(c[3], c[3], c[3])
	const exclusiveOr = 0x96 // of three
	for i := range 10 {
		Comment(fmt.Sprintf("Philox round %d.", i))
		p0, p1, next0, next2 := ZMM(), ZMM(), ZMM(), ZMM()
		VPMULUDQ(k.constants[rowMultiplier0], c[0], p0)
		VPMULUDQ(k.constants[rowMultiplier1], c[2], p1)
		VPSRLQ(Imm(32), p1, next0)
		VPTERNLOGQ_BCST(U8(exclusiveOr), k.row(rowKeys+2*i), c[1], next0)
		VPSRLQ(Imm(32), p0, next2)
		VPTERNLOGQ_BCST(U8(exclusiveOr), k.row(rowKeys+2*i+1), c[3], next2)
		c = [4]reg.VecVirtual{next0, p1, next2, p0}
	}
	return c
}

// roundBy emits the rounding of eight elements by the sums of kernel.roundBy.
func (k wideKernel) roundBy(offset int, word reg.VecVirtual) {
	Comment(fmt.Sprintf("Elements %d to %d.", offset, offset+7))
	x, a := k.load(offset)
	VMINPD(a, k.constants[rowClamp], a) // a NaN is not changed
	m := k.power(a)

	r, quantum := ZMM(), ZMM()
	VPSLLQ(Imm(32), word, word)
	VPSRLQ(Imm(12), word, word)
	VPSUBQ(k.constants[rowQuantum], m, quantum)
	const orAnd = 0xf8 // the bits of quantum | word & places for quantum, word, places = 0 to 7
	VPTERNLOGQ(U8(orAnd), k.constants[rowRandomBits], word, quantum)
	VADDPD_RZ_SAE(quantum, a, r)
	VPADDQ(k.constants[rowAdder], m, quantum)
	VADDPD_RZ_SAE(quantum, r, r)
	VPADDQ(k.constants[rowNext], m, m)
	VSUBPD_RZ_SAE(m, r, r)

	over := K()
	VCMPPD(orderedGT, k.constants[rowMax], r, over)
	VMOVAPD(k.constants[rowOverflow], over, r)
	k.store(offset, r, x)
}
