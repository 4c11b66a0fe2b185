package probe

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A tile is the shape of one instruction and how its lanes share the elements.
// Lanes are those of a warp, 32, or for wgmma of the four warps of a warpgroup,
// 128. All layouts are from the PTX ISA manual, sections "Matrix Fragments for
// mma" and "Asynchronous Warpgroup Level Matrix Register Fragment".
type tile struct {
	m, n, k    int
	lanes      int
	in, out    int  // bytes of an element of A or B, and of C or D
	sharedB    bool // B is in shared memory, as wgmma wants it
	quadPairs  bool // m8n8k4 of binary16: four products at once, here one of 32 × 32 with four blocks
	dots       int  // of one tile: its diagonal
	shiftA     int  // left shift of a code in its byte: e2m1 is in bits 2 to 5
	shiftB     int
	bytesA     int // of all lanes
	bytesB     int
	bytesC     int
	mnemonic   string
	ptxVersion string
	target     string
}

// place is the row and column of an element.
type place struct{ row, col int }

var shapeMNK = regexp.MustCompile(`m(\d+)n(\d+|N)k(\d+)`)

// newTile returns the tile of the instruction of d. The error says that there
// is no kernel for it.
func newTile(d tcore.Device) (tile, error) {
	shape := shapeMNK.FindStringSubmatch(d.Instruction)
	target, known := targets[d.Architecture]
	if shape == nil || !known || d.ScaleBlock > 0 {
		return tile{}, fmt.Errorf("probe: no kernel for %s (%s): want mma or wgmma without scales", d.Name, d.Instruction)
	}
	t := tile{lanes: 32, in: registerBytes(d.A), out: registerBytes(d.C), target: target}
	t.m, _ = strconv.Atoi(shape[1])
	t.k, _ = strconv.Atoi(shape[3])
	if t.n, _ = strconv.Atoi(shape[2]); shape[2] == "N" {
		t.n, t.lanes, t.sharedB, t.target = 8, 128, true, "sm_90a"
	}
	if t.m == 8 && t.in == 2 {
		t.m, t.n, t.quadPairs = 32, 32, true
	}
	t.dots = min(t.m, t.n)
	t.shiftA, t.shiftB = shiftOf(d.A), shiftOf(d.B)
	t.bytesA, t.bytesB, t.bytesC = t.m*t.k*t.in, t.n*t.k*t.in, t.m*t.n*t.out
	if t.quadPairs {
		t.bytesC /= 4
	}
	t.name(d)
	return t, nil
}

// registerBytes returns the bytes that a code takes in a register.
func registerBytes(f tcore.Format) int {
	if f.Name == tcore.TF32.Name {
		return 4
	}
	return (f.Bits() + 7) / 8
}

func shiftOf(f tcore.Format) int {
	if f.Name == tcore.E2M1.Name {
		return 2
	}
	return 0
}

// A lane holds elements i = 0, 1, ... from the low end of its first register
// on. Registers have 32 bits, but 64 for binary64; perRegister elements of A or
// B are in one.
func (t tile) perRegister() int { return max(1, 4/t.in) }

// a returns where element i of A of a lane is: row, and column of K.
func (t tile) a(lane, i int) place {
	if t.quadPairs {
		return place{t.quadRow(lane), i}
	}
	e := t.perRegister()
	warp, group, in := lane/32, lane%32/4, lane%4
	r := i / e
	return place{16*warp + group + 8*(r&1), (in+4*(r>>1))*e + i%e}
}

// b returns where element i of B of a lane is: row of K, and column.
func (t tile) b(lane, i int) place {
	if t.quadPairs {
		return place{i, t.quadRow(lane)}
	}
	e := t.perRegister()
	return place{(lane%4+4*(i/e))*e + i%e, lane / 4}
}

// c returns where element i of C and D of a lane is.
func (t tile) c(lane, i int) place {
	switch {
	case t.quadPairs && t.out == 2:
		return place{t.quadRow(lane), 8*(lane%16/4) + i}
	case t.quadPairs:
		return place{8*(lane%16/4) + lane/16*4 + lane&1 + i&2, 8*(lane%16/4) + i&4 + lane&2 + i&1}
	}
	return place{16*(lane/32) + lane%32/4 + 8*(i>>1), lane%4*2 + i&1}
}

// quadRow returns the row of A, and column of B, of a lane of m8n8k4: lanes 4q
// to 4q+3 and 16 more than these compute block q.
func (t tile) quadRow(lane int) int {
	return 8*(lane%16/4) + lane%4 + lane/16*4
}

// sharedOffset returns the byte at which element (k, n) of B is in shared
// memory: core matrices of 8 columns × 16 bytes of K, column by column, without
// swizzle.
func (t tile) sharedOffset(p place) int {
	at := p.row * t.in
	return at/16*128 + p.col*16 + at%16
}

// packA, packB and packC store the operands of dot products i, of which there
// are at most t.dots, on the diagonal of a tile; all else stays as it is.
func (t tile) packA(to []byte, x []uint64) { t.pack(to, x, t.bytesA, t.in, t.shiftA, t.a, true) }

func (t tile) packB(to []byte, y []uint64) {
	if !t.sharedB {
		t.pack(to, y, t.bytesB, t.in, t.shiftB, func(lane, i int) place {
			p := t.b(lane, i)
			return place{p.col, p.row}
		}, true)
		return
	}
	for i, code := range y {
		put(to[t.sharedOffset(place{i % t.k, i / t.k}):], code<<t.shiftB, t.in)
	}
}

func (t tile) packC(to []byte, c []uint64) { t.pack(to, c, t.bytesC, t.out, 0, t.c, false) }

// pack stores codes: those of dot product i in row i of K columns or, for C, at
// (i, i).
func (t tile) pack(to []byte, codes []uint64, bytes, size, shift int, at func(lane, i int) place, factors bool) {
	each := bytes / size / t.lanes
	for lane := range t.lanes {
		for i := range each {
			p := at(lane, i)
			j := p.row*t.k + p.col
			if !factors {
				if j = p.row; p.row != p.col {
					continue
				}
			}
			if j < len(codes) {
				put(to[(lane*each+i)*size:], codes[j]<<shift, size)
			}
		}
	}
}

// unpackD stores the diagonal of a tile of results in d.
func (t tile) unpackD(d []uint64, from []byte) {
	each := t.bytesC / t.out / t.lanes
	for lane := range t.lanes {
		for i := range each {
			if p := t.c(lane, i); p.row == p.col && p.row < len(d) {
				d[p.row] = get(from[(lane*each+i)*t.out:], t.out)
			}
		}
	}
}

// put stores n bytes of code, the low one first.
func put(to []byte, code uint64, n int) {
	for i := range n {
		to[i] = byte(code >> (8 * i))
	}
}

// get returns n bytes as put stores them.
func get(from []byte, n int) (code uint64) {
	for i := range n {
		code |= uint64(from[i]) << (8 * i)
	}
	return code
}
