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
	"log"
	"maps"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ideas are the groups of routines, each for a pair of files of its own.
var ideas = map[string]func(){
	"convert": func() {
		roundHalf()
		roundNarrow()
	},
	"cpuid": cpuid,
	"dotadd": func() {
		for _, w := range []width{256, 512} {
			for _, terms := range []int{4, 8, 16, 32} {
				w.dotAdd(terms, false)
				w.dotAdd(terms, true)
			}
			w.packExponents()
		}
		rowExponents()
	},
	"exact": func() {
		width(256).integerSums()
		width(512).integerSums()
		integers()
		gridBits()
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

// loop emits a loop that runs body n times, n > 0.
func loop(name string, n Op, body func()) {
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
}
