package cpu

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	xcpu "golang.org/x/sys/cpu"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// bfloat returns the code of x rounded to bfloat16; a NaN is quiet.
func bfloat(x float32) uint16 {
	if x != x {
		return uint16(math.Float32bits(x)>>16) | 1<<6
	}
	return uint16(tcore.BFloat16.Encode(float64(x), tcore.ToNearestEven))
}

func needPacking(t *testing.T) {
	if x := xcpu.X86; !x.HasAVX512F || !x.HasAVX512BW {
		t.Skip("this processor has no AVX-512")
	}
}

// The vector code rounds numbers as package tcore does: all upper halves with
// lower halves around a tie, and all numbers in the long test, at all places of
// a row. Both routines have the same macro, so that one is tried on all.
func TestPackRounds(t *testing.T) {
	needPacking(t)
	var src [32]float32
	var dst, b [pairBytes]byte
	var want [32]uint16
	code := func(p []byte, at int) uint16 { return uint16(p[at]) | uint16(p[at+1])<<8 }
	check := func() {
		packLeft32(&dst[0], &src[0], 1)
		for l, w := range want {
			if got := code(dst[:], 2*l); got != w {
				t.Fatalf("%#x is rounded to %#x, want %#x", math.Float32bits(src[l]), got, w)
			}
		}
	}
	for high := 0; high < 1<<16; high += 4 {
		for l := range src {
			low := []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1234, 0xabcd}[l%8]
			src[l] = math.Float32frombits(uint32(high+l/8)<<16 | low)
			want[l] = bfloat(src[l])
		}
		check()
		packRight32(&b[0], &src[0], 0, 1) // all rows are src
		for l, w := range want {
			if got := code(b[:], l/16*1024+l%16*4+2); got != w {
				t.Fatalf("%#x is rounded to %#x in a column, want %#x", math.Float32bits(src[l]), got, w)
			}
		}
	}
	if testing.Short() {
		return
	}
	for bits := uint64(0); bits < 1<<32; bits += 32 {
		for l := range src {
			src[l] = math.Float32frombits(uint32(bits) + uint32(l))
		}
		rounded := src
		tcore.BFloat16.RoundSlice32(rounded[:], rounded[:])
		for l, x := range rounded {
			if want[l] = uint16(math.Float32bits(x) >> 16); x != x {
				want[l] = bfloat(src[l])
			}
		}
		check()
	}
}

// bfloats returns the codes of bfloat16 of m.
func bfloats(m view[float32]) view[uint16] {
	z := view[uint16]{m.rows, m.cols, m.stride, make([]uint16, len(m.data))}
	for i, x := range m.data {
		z.data[i] = bfloat(x)
	}
	return z
}

// Strips and panels have every element where the instructions look for it, and
// zeros beyond the matrix: along K negative ones in strips, beyond the last
// whole step.
func TestPackPlaces(t *testing.T) {
	needPacking(t)
	r := rand.New(rand.NewPCG(7, 7))
	for _, step := range []int{2, 32} {
		rounded, codes := roundedTiles(step, nil), codeTiles(step, nil)
		for _, size := range [][2]int{{1, 1}, {31, 33}, {32, 32}, {33, 31}, {40, 257}, {65, 300}, {3, 512}} {
			n, k := size[0], size[1]
			a := view[float32]{n, k, k + 3, make([]float32, n*(k+3))}
			b := view[float32]{k, n, n + 2, make([]float32, k*(n+2))}
			for i := range a.data {
				a.data[i] = float32(r.NormFloat64())
			}
			for i := range b.data {
				b.data[i] = float32(r.NormFloat64())
			}
			l := layout{parts(n, width), parts(k, 32)}
			left, right := make([]byte, l.bytes()), make([]byte, l.bytes())
			leftCodes, rightCodes := make([]byte, l.bytes()), make([]byte, l.bytes())
			for s := range l.strips {
				rounded.packStrip(left, l, a, s)
				rounded.packPanel(right, l, b, s)
				codes.packStrip(leftCodes, l, bfloats(a), s)
				codes.packPanel(rightCodes, l, bfloats(b), s)
			}
			if !bytes.Equal(right, rightCodes) {
				t.Errorf("step %d, %v: panels of codes differ from those of numbers", step, size)
			}
			for i := range n { // rows below the last may hold anything
				for e := range l.tiles {
					p := l.from(i/width, e) + i%width/16*1024 + i%16*64
					if !bytes.Equal(left[p:p+64], leftCodes[p:p+64]) {
						t.Fatalf("step %d, %v: row %d of codes, tile %d: %x, want %x", step, size, i, e, leftCodes[p:p+64], left[p:p+64])
					}
				}
			}
			for i := range l.strips * width {
				for e := range l.tiles * 32 {
					var x, y uint16
					if i < n && e < k {
						x, y = bfloat(a.data[i*a.stride+e]), bfloat(b.data[e*b.stride+i])
					} else if e >= whole(k, step) && i < n {
						x = 1 << 15
					}
					half, at := i%width/16*1024, l.from(i/width, e/32)
					p, q := at+half+i%16*64+e%32*2, at+half+e%32/2*64+i%16*4+e%2*2
					if got := uint16(left[p]) | uint16(left[p+1])<<8; got != x && i < n {
						t.Fatalf("step %d, %v: row %d, element %d is %#x, want %#x", step, size, i, e, got, x)
					}
					if got := uint16(right[q]) | uint16(right[q+1])<<8; got != y {
						t.Fatalf("step %d, %v: column %d, element %d is %#x, want %#x", step, size, i, e, got, y)
					}
				}
			}
		}
	}
}
