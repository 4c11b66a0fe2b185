// Command exact generates the vector routines of package exact: in 256 bits
// (AVX2), in 512 bits (AVX-512 F, BW, DQ, VL), and with AVX512-VNNI:
//
//	go run ./exact -out sums_amd64.s -stubs sums_amd64.go -pkg exact
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	width(256).integerSums()
	width(512).integerSums()
	integers()
	gridBits()
	digitSums(1)
	digitSums(2)
	rowDigits()
	panelDigits()
	Generate()
}

// width is the number of bits of a vector register.
type width int

func (w width) bytes() int { return int(w) / 8 }

// vectors returns n new virtual registers.
func (w width) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		if w == 256 {
			v[i] = YMM()
		} else {
			v[i] = ZMM()
		}
	}
	return v
}

// zero emits v = 0.
func (w width) zero(v Op) {
	if w == 256 {
		VPXOR(v, v, v)
	} else {
		VPXORD(v, v, v)
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
