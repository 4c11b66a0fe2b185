package main

import (
	"fmt"
	"strings"
)

// file is a file of assembly, and the declarations of its routines in Go.
type file struct{ code, stubs strings.Builder }

// routine begins a routine of the given parameters, of which only the last may
// be a uint32 and the others have 8 bytes, and returns them in registers.
func (f *file) routine(name, parameters, doc string) (*routine, []general) {
	fmt.Fprintf(&f.stubs, "\n// %s\nfunc %s(%s)\n", doc, name, parameters)
	list := strings.Split(parameters, ", ")
	size := 8 * len(list)
	if strings.HasSuffix(parameters, " uint32") {
		size -= 4
	}
	r := &routine{code: &f.code}
	fmt.Fprintf(r.code, "\n// func %s(%s)\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, parameters, name, size)
	registers := r.generals(len(list))
	for i, p := range list {
		load := "MOVD"
		if strings.HasSuffix(p, " uint32") {
			load = "MOVWU"
		}
		r.emit("%s %s+%d(FP), %s", load, strings.Fields(p)[0], 8*i, registers[i])
	}
	return r, registers
}

// routine is a routine and how many registers it uses.
type routine struct {
	code    *strings.Builder
	general int
	vector  int
}

// general is a general register. R18, R27 and those after it have other uses.
type general int

func (r general) String() string {
	if r >= 18 {
		r++
	}
	return fmt.Sprintf("R%d", int(r))
}

// vector is a vector register.
type vector int

func (v vector) String() string { return fmt.Sprintf("V%d", int(v)) }

// scalar returns the name of v as a register of one number.
func (v vector) scalar() string { return fmt.Sprintf("F%d", int(v)) }

// generals returns n new registers.
func (r *routine) generals(n int) []general {
	list := make([]general, n)
	for i := range list {
		if r.general == 26 {
			panic("neon: out of general registers")
		}
		list[i] = general(r.general)
		r.general++
	}
	return list
}

// vectors returns n new vector registers.
func (r *routine) vectors(n int) []vector {
	list := make([]vector, n)
	for i := range list {
		if r.vector == 32 {
			panic("neon: out of vector registers")
		}
		list[i] = vector(r.vector)
		r.vector++
	}
	return list
}

// emit emits an instruction.
func (r *routine) emit(format string, x ...any) { fmt.Fprintf(r.code, "\t"+format+"\n", x...) }

// ret ends the routine.
func (r *routine) ret() { r.emit("RET") }

// loop emits a loop that runs body n times, n > 0. Its name is a label.
func (r *routine) loop(name string, n general, body func()) {
	fmt.Fprintf(r.code, "%s:\n", name)
	body()
	r.emit("SUBS $1, %v", n)
	r.emit("BNE %s", name)
}

// A lane is the kind of number in a vector register.
type lane struct {
	bytes   int
	suffix  string // of a register, in the Go assembler
	arm     string // of a register, in the manual
	element string // of the first number in a register, in the manual
	move    string // the instruction that loads one number
	size    uint32 // its bit in instructions
	goType  string
}

var (
	single = lane{4, "S4", "4s", "s[0]", "FMOVS", 0, "float32"}
	double = lane{8, "D2", "2d", "d[0]", "FMOVD", 1 << 22, "float64"}
)

// count is the number of lanes of a register.
func (l lane) count() int { return 16 / l.bytes }

// list returns the operand of loads and stores for registers one after the
// other.
func (l lane) list(v []vector) string {
	var names []string
	for _, x := range v {
		names = append(names, fmt.Sprintf("%v.%s", x, l.suffix))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// The instructions that the Go assembler has no names for are emitted as their
// bits (Arm Architecture Reference Manual for A-profile, C7.2), with the
// assembly of the manual as a comment, which a test reads back.

// word emits an instruction that stores in z a function of x and y.
func (r *routine) word(bits uint32, z, x, y vector, format string, operands ...any) {
	r.emit("WORD $%#08x // %s", bits|uint32(y)<<16|uint32(x)<<5|uint32(z), fmt.Sprintf(format, operands...))
}

// multiply emits z = xy₀, where y₀ is the first number in y.
func (r *routine) multiply(l lane, z, x, y vector) {
	r.word(0x4f809000|l.size, z, x, y, "fmul v%d.%s, v%d.%s, v%d.%s", z, l.arm, x, l.arm, y, l.element)
}

// multiplyAdd emits z = z + xy₀, rounded once, where y₀ is the first number in
// y.
func (r *routine) multiplyAdd(l lane, z, x, y vector) {
	r.word(0x4f801000|l.size, z, x, y, "fmla v%d.%s, v%d.%s, v%d.%s", z, l.arm, x, l.arm, y, l.element)
}

// add emits z = x + y in binary32.
func (r *routine) add(z, x, y vector) {
	r.three(0x4e20d400, "fadd", z, "4s", x, y, "4s")
}

// three emits an instruction of two operands, in lanes of the given kinds.
func (r *routine) three(bits uint32, name string, z vector, to string, x, y vector, from string) {
	r.word(bits, z, x, y, "%s v%d.%s, v%d.%s, v%d.%s", name, z, to, x, from, y, from)
}

// unary emits an instruction of one operand.
func (r *routine) unary(bits uint32, name string, z vector, to string, x vector, from string) {
	r.word(bits, z, x, 0, "%s v%d.%s, v%d.%s", name, z, to, x, from)
}

// narrowHalf emits the conversion of 8 numbers of binary32 in x to binary16 in
// z, rounded to nearest even.
func (r *routine) narrowHalf(z vector, x [2]vector) {
	r.unary(0x0e216800, "fcvtn", z, "4h", x[0], "4s")
	r.unary(0x4e216800, "fcvtn2", z, "8h", x[1], "4s")
}

// widenHalf emits the conversion of 8 numbers of binary16 in x to binary32 in
// z.
func (r *routine) widenHalf(z [2]vector, x vector) {
	r.unary(0x0e217800, "fcvtl", z[0], "4s", x, "4h")
	r.unary(0x4e217800, "fcvtl2", z[1], "4s", x, "8h")
}

// widenSingle emits the conversion of 4 numbers of binary32 in x to binary64 in
// z.
func (r *routine) widenSingle(z [2]vector, x vector) {
	r.unary(0x0e617800, "fcvtl", z[0], "2d", x, "2s")
	r.unary(0x4e617800, "fcvtl2", z[1], "2d", x, "4s")
}
