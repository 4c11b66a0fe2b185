package tcore

import (
	"math"

	"github.com/roundofflab/roundoff/internal/vector"
)

// sumsKernelFor returns the kernel for products of the given number of columns.
// exact reports whether the products of elements are exact in binary32.
func sumsKernelFor(exact bool, columns int) (k sumsKernel, ok bool) {
	type shape struct {
		bits int
		thin bool
	}
	fma := map[shape]sumsKernel{
		{256, true}: {12, 8, vector.SumsFMA12x8, vector.SumsHalf12x8}, {256, false}: {6, 16, vector.SumsFMA6x16, nil},
		{512, true}: {12, 16, vector.SumsFMA12x16, nil}, {512, false}: {14, 32, vector.SumsFMA14x32, nil},
	}
	mac := map[shape]sumsKernel{
		{256, true}: {12, 8, vector.SumsMAC12x8, nil}, {256, false}: {6, 16, vector.SumsMAC6x16, nil},
		{512, true}: {12, 16, vector.SumsMAC12x16, nil}, {512, false}: {14, 32, vector.SumsMAC14x32, nil},
	}
	bits := features.Bits
	if columns <= 8 {
		bits = min(bits, 256) // half a vector of 512 bits
	}
	s := shape{bits, columns <= bits/32}
	if exact {
		k, ok = fma[s]
	} else {
		k, ok = mac[s]
	}
	return k, ok
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
