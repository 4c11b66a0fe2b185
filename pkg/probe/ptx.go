package probe

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// targets maps architectures to their names in PTX.
var targets = map[string]string{
	"Volta": "sm_70", "Turing": "sm_75", "Ampere": "sm_80", "Ada": "sm_89", "Hopper": "sm_90",
	"Blackwell": "sm_100", "RTX Blackwell": "sm_120",
}

// ptxTypes maps formats to their names in PTX.
var ptxTypes = map[string]string{
	"binary64": "f64", "binary32": "f32", "tf32": "tf32", "binary16": "f16", "bfloat16": "bf16",
	"e5m2": "e5m2", "e4m3": "e4m3", "e3m2": "e3m2", "e2m3": "e2m3", "e2m1": "e2m1",
}

// versions maps targets to the lowest version of PTX that supports them.
var versions = map[string]string{
	"sm_70": "6.4", "sm_75": "6.5", "sm_80": "7.0", "sm_89": "8.4", "sm_90": "7.8", "sm_90a": "8.0",
	"sm_100": "8.6", "sm_120": "8.7", "sm_120a": "8.7",
}

// name sets mnemonic, target and version for the instruction of d.
func (t *tile) name(d tcore.Device) {
	a, b, c := ptxTypes[d.A.Name], ptxTypes[d.B.Name], ptxTypes[d.C.Name]
	switch {
	case t.sharedB:
		t.mnemonic = fmt.Sprintf("wgmma.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s", t.m, t.n, t.k, c, a, b)
	case t.quadPairs:
		t.mnemonic = fmt.Sprintf("mma.sync.aligned.m8n8k4.row.col.%s.%s.%s.%s", c, a, b, c)
	default:
		kind := ""
		if d.A.Bits() < 8 || d.B.Bits() < 8 {
			kind, t.target = "kind::f8f6f4.", "sm_120a"
		}
		t.mnemonic = fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s%s.%s.%s.%s", t.m, t.n, t.k, kind, c, a, b, c)
	}
	t.ptxVersion = versions[t.target]
	if t.in == 1 && !t.sharedB {
		t.ptxVersion = max(t.ptxVersion, "8.4")
		if t.out == 2 || t.k == 16 {
			t.ptxVersion = "8.7"
		}
	}
}

// entry is the name of the kernel.
const entry = "tile"

// ptx returns a kernel with four pointers as arguments, to A, B, C and D. It
// runs the instruction once in every block of t.lanes threads, on consecutive
// tiles. The elements of a lane are consecutive in memory, and its registers
// are loaded and stored as a whole. For wgmma, which reads B from shared
// memory, the kernel copies B there in the order that it is given.
func (t tile) ptx() string {
	var s strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&s, format+"\n", values...) }
	a, b, c := t.registers(t.bytesA, t.in), t.registers(t.bytesB, t.in), t.registers(t.bytesC, t.out)

	line(".version %s\n.target %s\n.address_size 64\n", t.ptxVersion, t.target)
	line(".visible .entry %s(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{", entry)
	line("\t.reg .u32 %%lane, %%tile, %%word, %%low;\n\t.reg .u64 %%pa, %%pb, %%pc, %%pd, %%at, %%desc;\n\t.reg .pred %%p;")
	line("\t.reg .%s %%a<%d>, %%b<%d>;\n\t.reg .%s %%c<%d>;", bitsOf(t.in), a, max(b, 1), t.typeC(), c)
	if t.sharedB {
		line("\t.shared .align 128 .b8 matrix[%d];", t.bytesB)
	}
	line("\tmov.u32 %%lane, %%tid.x;\n\tmov.u32 %%tile, %%ctaid.x;")
	for _, p := range []string{"pa", "pb", "pc", "pd"} {
		line("\tld.param.u64 %%%s, [%s];\n\tcvta.to.global.u64 %%%s, %%%s;", p, p, p, p)
	}

	t.move(line, "ld", "pa", "a", t.bytesA, t.in, bitsOf(t.in))
	if t.sharedB {
		t.copyShared(line)
	} else {
		t.move(line, "ld", "pb", "b", t.bytesB, t.in, bitsOf(t.in))
	}
	t.move(line, "ld", "pc", "c", t.bytesC, t.out, t.typeC())
	if t.sharedB {
		line("\twgmma.fence.sync.aligned;\n\tsetp.eq.u32 %%p, 0, 0;")
		transpose := ""
		if t.in == 2 {
			transpose = ", 0"
		}
		line("\t%s %s, %s, %%desc, %%p, 1, 1%s;", t.mnemonic, list("c", c), list("a", a), transpose)
		line("\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;")
	} else {
		line("\t%s %s, %s, %s, %s;", t.mnemonic, list("c", c), list("a", a), list("b", b), list("c", c))
	}
	t.move(line, "st", "pd", "c", t.bytesC, t.out, t.typeC())
	line("\tret;\n}")
	return s.String()
}

// move emits loads or stores of all registers of a lane.
func (t tile) move(line func(string, ...any), op, base, name string, bytes, size int, kind string) {
	each, n := bytes/t.lanes, t.registers(bytes, size)
	line("\tmad.lo.u32 %%word, %%tile, %d, %%lane;\n\tmad.wide.u32 %%at, %%word, %d, %%%s;", t.lanes, each, base)
	for r := range n {
		if op == "ld" {
			line("\tld.global.%s %%%s%d, [%%at+%d];", kind, name, r, r*each/n)
		} else {
			line("\tst.global.%s [%%at+%d], %%%s%d;", kind, r*each/n, name, r)
		}
	}
}

// copyShared emits the copy of B to shared memory and the descriptor of B. The
// descriptor contains the address and the distance of 128 bytes between core
// matrices, both in units of 16 bytes, without swizzle. There is only one core
// matrix in the direction of columns, so that the second distance is not used
// and may have the same value.
func (t tile) copyShared(line func(string, ...any)) {
	line("\tmov.u32 %%low, matrix;\n\tsetp.lt.u32 %%p, %%lane, %d;", t.bytesB/4)
	line("\tmad.lo.u32 %%word, %%tile, %d, %%lane;\n\tmad.wide.u32 %%at, %%word, 4, %%pb;", t.bytesB/4)
	line("\tmad.lo.u32 %%word, %%lane, 4, %%low;")
	line("\t@%%p ld.global.b32 %%b0, [%%at];\n\t@%%p st.shared.b32 [%%word], %%b0;")
	line("\tfence.proxy.async;\n\tbar.sync 0;")
	line("\tshr.u32 %%low, %%low, 4;\n\tcvt.u64.u32 %%desc, %%low;\n\tand.b64 %%desc, %%desc, 0x3fff;")
	line("\tor.b64 %%desc, %%desc, 0x%x;", uint64(128/16)<<16|uint64(128/16)<<32)
}

// registers returns the number of registers that a lane needs for a matrix.
func (t tile) registers(bytes, size int) int {
	if t.sharedB && bytes == t.bytesB && size == t.in && bytes != t.bytesA {
		return 1 // for the word that is copied to shared memory
	}
	return bytes / t.lanes / max(4, size)
}

// typeC returns the PTX type of the registers of C and D.
func (t tile) typeC() string {
	switch t.out {
	case 4:
		return "f32"
	case 8:
		return "f64"
	}
	return "b32"
}

// bitsOf returns the PTX type of a register with elements of A or B of the
// given bytes.
func bitsOf(size int) string {
	if size == 8 {
		return "f64"
	}
	return "b32"
}

// list returns {%name0, %name1, ...}.
func list(name string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%%%s%d", name, i)
	}
	return "{" + strings.Join(names, ", ") + "}"
}
