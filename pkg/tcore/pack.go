package tcore

import "fmt"

// PackedLen returns the number of bytes of n packed codes of f. It panics if n
// < 0.
func (f Format) PackedLen(n int) int {
	if n < 0 {
		panic(fmt.Sprintf("tcore: PackedLen: n = %d, want n >= 0", n))
	}
	return (n*f.Bits() + 7) / 8
}

// EncodeSlice stores in dst the codes of fl(x) for every x of src, packed: code
// i of w bits occupies bits w i to w i + w-1 of dst, where bit j is bit j mod 8
// of byte ⌊j / 8⌋, counted from the least significant one. Thus
//
//   - a code of 8 bits is a byte, and one of 16 bits two, the low one first;
//   - codes of 4 bits are two in a byte, the even one in the low half;
//   - codes of 6 bits are four in three bytes, the first one in the low six
//     bits of the first byte, the second in its high two and the low four of
//     the next byte, and so on.
//
// Unused bits of the last byte are 0. Long slices are encoded on GOMAXPROCS
// goroutines. It panics unless dst has PackedLen(len(src)) bytes.
func (f Format) EncodeSlice(dst []byte, src []float64, mode RoundingMode) {
	f.encodeSlice("EncodeSlice", dst, src, func(z, x []float64, _ int) {
		f.roundPart(z, x, mode)
	})
}

// EncodeSlice is [Format.EncodeSlice] for the numbers that
// [Stochastic.RoundSlice] returns. It panics unless 1 <= Bits <= 32 and dst has
// PackedLen(len(src)) bytes.
func (s Stochastic) EncodeSlice(f Format, dst []byte, src []float64, index uint64) {
	s.check()
	f.encodeSlice("Stochastic.EncodeSlice", dst, src, func(z, x []float64, i int) {
		s.roundPart(f, z, x, index+uint64(i))
	})
}

// encodeSlice packs the codes of src, a block at a time: round(z, src[i:], i)
// stores the rounded numbers of a block in z. The codes of a part or of a block
// fill whole bytes.
func (f Format) encodeSlice(call string, dst []byte, src []float64, round func(z, x []float64, i int)) {
	checkLengths(call, "dst", len(dst), f.PackedLen(len(src)))
	w := f.Bits()
	eachPart(len(src), func(lo, hi int) {
		var block [256]float64
		for i := lo; i < hi; i += len(block) {
			z := block[:min(len(block), hi-i)]
			round(z, src[i:i+len(z)], i)
			f.pack(dst[i*w/8:], z)
		}
	})
}

// pack stores the packed codes of z, numbers of f, in dst.
func (f *Format) pack(dst []byte, z []float64) {
	w := f.Bits()
	if w == 8 {
		for i, x := range z {
			dst[i] = byte(f.code(x))
		}
		return
	}
	clear(dst[:f.PackedLen(len(z))])
	for i, x := range z {
		code := f.code(x)
		for j := i * w; j < (i+1)*w; {
			dst[j/8] |= byte(code << (j % 8))
			taken := 8 - j%8
			code >>= taken
			j += taken
		}
	}
}

// DecodeSlice stores in dst the numbers that the packed codes of src represent,
// in the layout of [Format.EncodeSlice]. It panics unless src has
// PackedLen(len(dst)) bytes.
func (f Format) DecodeSlice(dst []float64, src []byte) {
	checkLengths("DecodeSlice", "src", len(src), f.PackedLen(len(dst)))
	w := f.Bits()
	number := f.Decode
	if w <= 8 && len(dst) > 1<<w {
		table := make([]float64, 1<<w)
		for code := range table {
			table[code] = f.Decode(uint64(code))
		}
		number = func(code uint64) float64 { return table[code] }
	}
	for i := range dst {
		dst[i] = number(unpackCode(src, i, w))
	}
}

// unpackCode returns code i of w bits.
func unpackCode(src []byte, i, w int) uint64 {
	var code uint64
	for n := 0; n < w; {
		j := i*w + n
		code |= uint64(src[j/8]>>(j%8)) << n
		n += 8 - j%8
	}
	return code & (1<<w - 1)
}
