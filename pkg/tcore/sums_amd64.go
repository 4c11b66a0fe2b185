package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/vector"
)

// tileShape is a width of vectors, and whether tiles have one vector of columns
// or two.
type tileShape struct {
	bits int
	thin bool
}

// newTileShape returns the shape of tiles for a product of the given number of
// columns, of which a vector of 256 bits contains lanes.
func newTileShape(columns, lanes int) tileShape {
	bits := features.Bits
	if columns <= lanes {
		bits = min(bits, 256) // half a vector of 512 bits
	}
	return tileShape{bits, columns <= bits/256*lanes}
}

// sumsKernelFor returns the kernel of sums in binary32 for products of the
// given number of columns. exact reports whether the products of elements are
// exact in binary32.
func sumsKernelFor(exact bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	fma := map[tileShape]sumsKernel[float32, float32]{
		{256, true}: newSumsKernel(12, 8, 1, vector.SumsFMA12x8), {256, false}: newSumsKernel(6, 16, 1, vector.SumsFMA6x16),
		{512, true}: newSumsKernel(12, 16, 1, vector.SumsFMA12x16), {512, false}: newSumsKernel(14, 32, 1, vector.SumsFMA14x32),
	}
	mac := map[tileShape]sumsKernel[float32, float32]{
		{256, true}: newSumsKernel(12, 8, 1, vector.SumsMAC12x8), {256, false}: newSumsKernel(6, 16, 1, vector.SumsMAC6x16),
		{512, true}: newSumsKernel(12, 16, 1, vector.SumsMAC12x16), {512, false}: newSumsKernel(14, 32, 1, vector.SumsMAC14x32),
	}
	s := newTileShape(columns, 8)
	if !exact {
		k, ok = mac[s]
		return k, ok
	}
	k, ok = fma[s]
	if s == (tileShape{256, true}) {
		k.half = newSumsKernel(12, 8, 8, vector.SumsHalf12x8).run
	}
	return k, ok
}

// chain64KernelFor returns the kernel of FMAs in binary64.
func chain64KernelFor(columns int) (k sumsKernel[float64, float64], ok bool) {
	k, ok = map[tileShape]sumsKernel[float64, float64]{
		{256, true}: newSumsKernel(12, 4, 1, vector.Chain64_12x4), {256, false}: newSumsKernel(6, 8, 1, vector.Chain64_6x8),
		{512, true}: newSumsKernel(12, 8, 1, vector.Chain64_12x8), {512, false}: newSumsKernel(14, 16, 1, vector.Chain64_14x16),
	}[newTileShape(columns, 4)]
	return k, ok
}

// pairsKernelFor returns the kernel of sums of products in pairs, in blocks of
// the given number of terms. normal reports whether products are normal, zero
// or not finite.
func pairsKernelFor(terms int, normal bool, columns int) (k sumsKernel[float32, float32], ok bool) {
	type kind struct {
		bits, terms int
		normal      bool
	}
	k, ok = map[kind]sumsKernel[float32, float32]{
		{256, 2, true}: newSumsKernel(8, 8, 2, vector.PairsFMA2_8x8), {256, 2, false}: newSumsKernel(8, 8, 2, vector.PairsMAC2_8x8),
		{256, 4, true}: newSumsKernel(8, 8, 4, vector.PairsFMA4_8x8), {256, 4, false}: newSumsKernel(8, 8, 4, vector.PairsMAC4_8x8),
		{512, 2, true}: newSumsKernel(8, 32, 2, vector.PairsFMA2_8x32), {512, 2, false}: newSumsKernel(8, 32, 2, vector.PairsMAC2_8x32),
		{512, 4, true}: newSumsKernel(8, 32, 4, vector.PairsFMA4_8x32), {512, 4, false}: newSumsKernel(8, 32, 4, vector.PairsMAC4_8x32),
	}[kind{newTileShape(columns, 8).bits, terms, normal}]
	return k, ok
}

// fusedPairsKernelFor returns the kernel of sums of pairs of products that are
// numbers of binary32, in blocks of the given number of terms.
func fusedPairsKernelFor(terms, columns int) (k sumsKernel[float32, float32], ok bool) {
	k, ok = map[int]sumsKernel[float32, float32]{
		256: newSumsKernel(8, 8, terms, vector.PairsFused2_8x8), 512: newSumsKernel(8, 32, terms, vector.PairsFused2_8x32),
	}[newTileShape(columns, 8).bits]
	return k, ok
}

// oddPairsKernelFor returns the kernel of sums of pairs that are rounded to
// odd, none of which overflows, in blocks of the given number of terms. Only
// with AVX-512 has an instruction a rounding of its own.
func oddPairsKernelFor(terms int) (k sumsKernel[float32, float32], ok bool) {
	return newSumsKernel(8, 32, terms, vector.PairsOdd2_8x32), features.Bits == 512
}

// exactTile is a routine of package vector that continues sums exactly, or
// returns 1 and does nothing.
type exactTile = func(c *float32, ldc int, a *float64, lda int, b *float64, k int) int

// exactTileFor returns the routine of exact sums of blocks of the given number
// of terms and the shape of its tiles.
func exactTileFor(terms, columns int) (rows, width int, tile exactTile, ok bool) {
	type kind struct {
		tileShape
		terms int
	}
	shape := tileShape{features.Bits, features.Bits == 512 && columns <= 8}
	tile, ok = map[kind]exactTile{
		{tileShape{256, false}, 2}: vector.ExactSum2_6x8, {tileShape{256, false}, 4}: vector.ExactSum4_6x8,
		{tileShape{512, true}, 2}: vector.ExactSum2_12x8, {tileShape{512, true}, 4}: vector.ExactSum4_12x8,
		{tileShape{512, false}, 2}: vector.ExactSum2_14x16, {tileShape{512, false}, 4}: vector.ExactSum4_14x16,
	}[kind{shape, terms}]
	switch {
	case shape.bits == 256:
		return 6, 8, tile, ok
	case shape.thin:
		return 12, 8, tile, ok
	}
	return 14, 16, tile, ok
}

// vectorFlush does what flushRow does for leading elements of x and returns
// their number.
func vectorFlush(x []float32, normal float32) int {
	n := vectorLength(len(x))
	if n == 0 || features.Bits == 0 {
		return 0
	}
	vector.Flush(&x[0], n, math.Float32bits(normal))
	return n
}

// vectorMagnitudes does what magnitudes.add does for leading elements of x, and
// returns their number.
func vectorMagnitudes(m *magnitudes, x []float32) int {
	n := vectorLength(len(x))
	if n == 0 || features.Bits == 0 {
		return 0
	}
	vector.Magnitudes(&x[0], n, &m.least[0])
	return n
}

// vectorWiden stores leading elements of src in dst and returns their number.
func vectorWiden(dst []float64, src []float32) int {
	n := vectorLength(len(src))
	if n == 0 || features.Bits == 0 {
		return 0
	}
	vector.Widen(&dst[0], &src[0], n)
	return n
}

// vectorNarrow stores leading elements of src in dst, rounded to nearest even,
// and returns their number.
func vectorNarrow(dst []float32, src []float64) int {
	n := vectorLength(len(src))
	if n == 0 || features.Bits == 0 {
		return 0
	}
	vector.Narrow(&dst[0], &src[0], n)
	return n
}

// vectorRound32 stores fl(x), to nearest even, in dst for the leading elements
// x of src and returns their number.
func vectorRound32(f Format, dst, src []float32) int {
	n := vectorLength(len(src))
	switch {
	case n == 0 || features.Bits == 0:
		return 0
	case f.Equal(Binary16):
		vector.RoundHalf(&dst[0], &src[0], n)
		return n
	case f.Precision >= Binary32.Precision || !Binary32.contains(f), f.Sign != Signed,
		f.Subnormals != Kept, f.Specials != IEEE && f.Specials != NaNOnly:
		return 0
	}
	drop := uint32(Binary32.Precision - f.Precision)
	p := narrowConstants{
		drop:      drop,
		half:      1<<drop>>1 - 1,
		mask:      ^(1<<drop - 1),
		normal:    math.Float32bits(float32(f.MinNormal())),
		greatest:  math.Float32bits(float32(f.Max())),
		overflow:  math.Float32bits(float32(f.infinity(false))),
		quanta:    float32(exp2(f.minQuantum() + 23)),
		magnitude: signBit32 - 1,
		infinity:  infinity32,
	}
	wide := 0
	if features.Bits == 512 && n >= 16 {
		wide = n &^ 15
		vector.RoundNarrow512(&dst[0], &src[0], wide, &p.drop)
	}
	if wide < n {
		vector.RoundNarrow256(&dst[wide], &src[wide], n-wide, &p.drop)
	}
	return n
}

// narrowConstants contains the constants of the vector code of roundNarrow: the
// variables of Format.roundNarrow.
type narrowConstants struct {
	drop, half, mask, normal, greatest, overflow uint32
	quanta                                       float32
	magnitude, infinity                          uint32
}
