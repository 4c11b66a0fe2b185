package cpu

import (
	"math"
	"unsafe"
)

// dots are the tiles of at most 16 dot products, which are on the diagonal of a
// product of tiles.
type dots struct {
	a, b [tileSize]uint16
	sums [side * side]float32
}

// compute stores in d the codes of the dot products of rows of x and y, plus c.
func (t *dots) compute(k *kernel, x, y, c, d []uint64) {
	n := 2 * k.pairs
	for i := range d {
		for l := range n {
			t.a[i*2*tilePairs+l] = uint16(x[i*n+l])
			t.b[atPair(l, i)] = uint16(y[i*n+l])
		}
		t.sums[i*side+i] = math.Float32frombits(uint32(c[i]))
	}
	k.run(&t.sums[0], 4*side, &t.a[0], &t.b[0], k.pairs)
	for i := range d {
		d[i] = uint64(math.Float32bits(t.sums[i*side+i]))
	}
}

// atPair returns the index of element l of column j in a tile of b.
func atPair(l, j int) int { return (l/2*side+j)*2 + l%2 }

// byteDots are dots of integers, at most 32 of them.
type byteDots struct {
	a, b [pairBytes]uint8
	sums [width * width]int32
}

// compute is that of dots.
func (t *byteDots) compute(k *tileKernel[uint8], x, y, c, d []uint64) {
	for i := range d {
		t.setRow(i, x[i*k.terms:][:k.terms])
		t.setColumn(i, y[i*k.terms:][:k.terms])
		t.sums[i*width+i] = int32(uint32(c[i]))
	}
	t.run(k.blocks)
	for i := range d {
		d[i] = uint64(uint32(t.sums[i*width+i]))
	}
}

// setRow stores row i of the first factor, and setColumn column i of the
// second.
func (t *byteDots) setRow(i int, x []uint64) {
	row := t.a[i/side*pairBytes/2+i%side*64:][:len(x)]
	for l, code := range x {
		row[l] = uint8(code)
	}
}

func (t *byteDots) setColumn(i int, y []uint64) {
	column := t.b[i/side*pairBytes/2+4*(i%side):]
	for l, code := range y {
		column[l/4*64+l%4] = uint8(code)
	}
}

// run continues all sums by their dot products.
func (t *byteDots) run(run blocks) {
	sums := (*byte)(unsafe.Pointer(&t.sums))
	run(sums, sums, 4*width, &t.a[0], &t.b[0], 1, 1, 0, &t.b[0])
}
