// Command gemm generates the vector routines of matrix products, those of one
// idea at a time:
//
//	go run ./gemm -only sums -out sums_amd64.s -stubs sums_amd64.go -pkg vector
//
// Most of them it generates in 256 bits (AVX2, FMA, F16C) and in 512 bits
// (AVX-512 F, BW, DQ, VL).
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ideas are the groups of routines, each for a pair of files of its own.
var ideas = map[string]func(){
	"chain64": func() {
		for _, w := range []width{256, 512} {
			w.chain64(w.rows(2), 2)
			w.chain64(12, 1)
		}
		widen()
		narrowed()
	},
	"convert": func() {
		roundHalf()
		width(256).roundNarrow()
		width(512).roundNarrow()
	},
	"cpuid": cpuid,
	"dotadd": func() {
		for _, w := range []width{256, 512} {
			for _, d := range dotAdds {
				w.dotAdd(d.name, d.dotAdd)
			}
			w.packColumns()
			w.packRows()
		}
	},
	"exact": func() {
		width(256).integerSums()
		width(512).integerSums()
		integers()
		gridBits()
		width(256).digitSums(6, 1)
		width(512).digitSums(12, 1)
		width(512).digitSums(12, 2)
		for _, w := range []width{256, 512} {
			w.rowDigits()
			w.panelDigits()
			w.setApart()
		}
	},
	"half": func() {
		halfFMA()
		halfCodes()
		width(256).halfScaled(1)
		width(512).halfScaled(2)
		width(256).halfSums(6, 1)
		width(512).halfSums(8, 2)
	},
	"stages": func() {
		for _, w := range []width{256, 512} {
			w.stageSums(4, 1)
			w.stageSums(8, 1)
			w.stageSums(16, 2)
		}
		stagePacks()
	},
	"exactsum": func() {
		for _, terms := range []int{2, 4} {
			width(256).exactSum(terms, 6, 2)
			width(512).exactSum(terms, 14, 2)
			width(512).exactSum(terms, 12, 1)
		}
	},
	"pairs": func() {
		for _, terms := range []int{2, 4} {
			for _, fused := range []bool{true, false} {
				width(256).pairs(terms, fused, 8, 1)
				width(512).pairs(terms, fused, 8, 2)
			}
		}
		width(256).fusedPairs(8, 1)
		width(512).fusedPairs(8, 2)
		oddPairs(8, 2)
		flush()
		magnitudes()
	},
	"floorcount": func() {
		for _, w := range []width{256, 512} {
			w.floorCount(false)
			w.floorCount(true)
			w.floorCountColumns()
		}
		floorCountRow()
	},
	"flushed": func() {
		for _, w := range []width{256, 512} {
			w.evenOdd(w.rows(4), 2)
			w.oddFirst(w.rows(2), 2)
		}
	},
	"groups": func() {
		for _, size := range []int{16, 32} {
			width(256).groups(size, false)
			width(512).groups(size, false)
			width(512).groups(size, true)
			width(256).groupsWide(size, false)
			width(512).groupsWide(size, false)
			width(512).groupsWide(size, true)
		}
		width(256).groupsCut(false)
		width(512).groupsCut(false)
		width(512).groupsCut(true)
		width(256).groupScale()
		width(512).groupScale()
		packGroupRows()
		packGroupColumns()
		encodePairs()
	},
	"integers": narrowIntegers,
	"sums": func() {
		for _, w := range []width{256, 512} {
			for _, fused := range []bool{true, false} {
				w.sums(fused, w.rows(2), 2)
				w.sums(fused, 12, 1)
			}
		}
		sumsHalf()
		sumsRows()
		transpose()
		add()
	},
}

func main() {
	only := flag.String("only", "", "the idea to generate")
	flag.Parse()
	emit, ok := ideas[*only]
	if !ok {
		log.Fatalf("gemm: -only %q, want one of %v", *only, slices.Sorted(maps.Keys(ideas)))
	}
	emit()
	Generate()
}

// width is the number of bits of a vector register.
type width int

func (w width) lanes() int { return int(w) / 32 }
func (w width) bytes() int { return int(w) / 8 }

// rows is the greatest number of rows of a tile, of the given number of vectors
// in width, whose sums fit into the registers.
func (w width) rows(vectors int) int {
	if w == 256 {
		return 12 / vectors
	}
	return 28 / vectors
}

// vector returns a new virtual register.
func (w width) vector() reg.VecVirtual {
	if w == 256 {
		return YMM()
	}
	return ZMM()
}

func (w width) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = w.vector()
	}
	return v
}

// zero emits v = 0.
func (w width) zero(v Op) { w.xor(v, v, v) }

// The bitwise instructions have different names for 256 and 512 bits.

func (w width) xor(x, y, z Op) {
	if w == 256 {
		VPXOR(x, y, z)
	} else {
		VPXORD(x, y, z)
	}
}

func (w width) and(x, y, z Op) {
	if w == 256 {
		VPAND(x, y, z)
	} else {
		VPANDD(x, y, z)
	}
}

func (w width) or(x, y, z Op) {
	if w == 256 {
		VPOR(x, y, z)
	} else {
		VPORD(x, y, z)
	}
}

// andNot emits z = y & ^mask.
func (w width) andNot(mask, y, z Op) {
	if w == 256 {
		VPANDN(y, mask, z)
	} else {
		VPANDND(y, mask, z)
	}
}

// param loads a parameter into a register.
func param(name string) reg.Register { return Load(Param(name), GP64()) }

// rowAddresses returns the addresses of rows that are a stride in bytes apart,
// with one pointer for every four rows. To advance all addresses, add to the
// pointers.
func rowAddresses(base, stride reg.Register, rows int) (addresses []Mem, pointers []reg.Register) {
	three := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	pointer := base
	for r := 0; r < rows; r += 4 {
		if r > 0 {
			next := GP64()
			LEAQ(Mem{Base: pointer, Index: stride, Scale: 4}, next)
			pointer = next
		}
		pointers = append(pointers, pointer)
		quad := []Mem{
			{Base: pointer},
			{Base: pointer, Index: stride, Scale: 1},
			{Base: pointer, Index: stride, Scale: 2},
			{Base: pointer, Index: three, Scale: 1},
		}
		addresses = append(addresses, quad[:min(4, rows-r)]...)
	}
	return addresses, pointers
}

// inMemory are the constants that were emitted, by name.
var inMemory = map[string]Mem{}

// constant returns the memory of a vector whose 32-bit lanes are all bits.
func (w width) constant(name string, bits uint32) Mem {
	name = fmt.Sprint(name, int(w))
	m, ok := inMemory[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for i := range w.lanes() {
			DATA(4*i, U32(bits))
		}
		inMemory[name] = m
	}
	return m
}

// loop emits a loop that runs body n times, n > 0.
func loop(name string, n Op, body func()) {
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
}

// Bits of MXCSR: subnormal operands count as zeros of their sign, and zeros of
// their sign replace subnormal results.
const (
	zeroOperands = 1 << 6
	zeroResults  = 1 << 15
)

// underControl emits that the operations until restore is called have these
// bits of MXCSR set, round to nearest even, and trap nothing.
func underControl(bits int) (restore func()) {
	const roundToNearest = 0x1f80
	saved, control := AllocLocal(8), AllocLocal(8)
	STMXCSR(saved)
	MOVL(U32(bits|roundToNearest), control)
	LDMXCSR(control)
	return func() { LDMXCSR(saved) }
}
