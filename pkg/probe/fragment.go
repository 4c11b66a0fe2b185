package probe

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// A tile is the shape of one instruction and the distribution of its elements
// over lanes. Lanes are the threads of a warp, 32, or, for wgmma, of the four
// warps of a warpgroup, 128. All layouts are from the PTX ISA manual, sections
// "Matrix Fragments for mma" and "Asynchronous Warpgroup Level Matrix Register
// Fragment".
type tile struct {
	m, n, k    int
	lanes      int
	in, out    int  // bytes of an element of A or B, and of C or D
	sharedB    bool // B is in shared memory, as wgmma requires
	quadPairs  bool // m8n8k4 of binary16: four products, treated as the diagonal blocks of a 32 × 32 tile
	dots       int  // dot products of one tile, on its diagonal
	shiftA     int  // left shift of a code in its byte: that of e2m1 occupies bits 2 to 5
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

// newTile returns the tile of the instruction of d, or an error if this package
// has no kernel for it.
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

// registerBytes returns the number of bytes of a code in a register.
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

// A lane stores elements i = 0, 1, ... from the low end of its first register
// on. Registers have 32 bits, or 64 for binary64. perRegister returns the
// number of elements of A or B in one register.
func (t tile) perRegister() int { return max(1, 4/t.in) }

// a returns the row and the column (of K) of element i of A in a lane.
func (t tile) a(lane, i int) place {
	if t.quadPairs {
		return place{t.quadRow(lane), i}
	}
	e := t.perRegister()
	warp, group, in := lane/32, lane%32/4, lane%4
	r := i / e
	return place{16*warp + group + 8*(r&1), (in+4*(r>>1))*e + i%e}
}

// b returns the row (of K) and the column of element i of B in a lane.
func (t tile) b(lane, i int) place {
	if t.quadPairs {
		return place{i, t.quadRow(lane)}
	}
	e := t.perRegister()
	return place{(lane%4+4*(i/e))*e + i%e, lane / 4}
}

// c returns the row and the column of element i of C or D in a lane.
func (t tile) c(lane, i int) place {
	switch {
	case t.quadPairs && t.out == 2:
		return place{t.quadRow(lane), 8*(lane%16/4) + i}
	case t.quadPairs:
		return place{8*(lane%16/4) + lane/16*4 + lane&1 + i&2, 8*(lane%16/4) + i&4 + lane&2 + i&1}
	}
	return place{16*(lane/32) + lane%32/4 + 8*(i>>1), lane%4*2 + i&1}
}

// quadRow returns the row of A, which is also the column of B, of a lane of
// m8n8k4. Lanes 4q to 4q+3 and 4q+16 to 4q+19 compute block q.
func (t tile) quadRow(lane int) int {
	return 8*(lane%16/4) + lane%4 + lane/16*4
}

// sharedOffset returns the byte offset of element (k, n) of B in shared memory.
// B is stored in core matrices of 8 columns × 16 bytes of K, column by column,
// without swizzle.
func (t tile) sharedOffset(p place) int {
	at := p.row * t.in
	return at/16*128 + p.col*16 + at%16
}

// packA, packB and packC store the operands of at most t.dots dot products on
// the diagonal of a tile. They do not change the other elements.
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

// pack stores codes in the registers of all lanes. Factors of dot product i are
// in row i, of K columns; element i of C is at (i, i).
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

// put stores the n low bytes of code, the lowest first.
func put(to []byte, code uint64, n int) {
	for i := range n {
		to[i] = byte(code >> (8 * i))
	}
}

// get returns the code of n bytes that put stored.
func get(from []byte, n int) (code uint64) {
	for i := range n {
		code |= uint64(from[i]) << (8 * i)
	}
	return code
}
