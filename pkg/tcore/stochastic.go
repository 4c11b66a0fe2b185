package tcore

import "fmt"

// Stochastic rounds up or down at random, in proportion: a number that lies a
// fraction φ of the way from one number of the format to the next away from
// zero becomes the latter with probability φ, truncated to Bits bits (Croci et
// al. 2022, SR-proportional or mode 1). A number of the format is unchanged.
// The expected value of the rounded number is the number itself, up to 2^-Bits
// quanta. Rounding treats the numbers of the format as if they continued beyond
// Max; a result beyond Max overflows, as it does to nearest.
//
// The random bits come from a counter-based generator, Philox-4x32-10. The
// result for an index depends on the index and on the seed alone, not on
// earlier roundings or on the goroutine. Use a different index for each
// rounding.
type Stochastic struct {
	Seed uint64
	Bits int // random bits of a rounding, 1 to 32
}

// Round returns x rounded to f, with the random bits of the index. It panics
// unless 1 <= Bits <= 32.
func (s Stochastic) Round(f Format, x float64, index uint64) float64 {
	s.check()
	word := s.words(index / 16)[index%16]
	return f.roundStochastic(x, s.random(word))
}

// RoundSlice stores in dst[i] what Round returns for src[i] and index + i. dst
// and src are the same slice or do not overlap. Long slices are rounded on
// GOMAXPROCS goroutines. It panics if the lengths differ or unless 1 <= Bits <=
// 32.
func (s Stochastic) RoundSlice(f Format, dst, src []float64, index uint64) {
	checkLengths("Stochastic.RoundSlice", "dst", len(dst), len(src))
	s.check()
	f.check()
	eachPart(len(src), func(lo, hi int) {
		s.roundPart(f, dst[lo:hi], src[lo:hi], index+uint64(lo))
	})
}

// roundPart rounds one by one until the index is a multiple of 16, then in
// vectors, and then the remaining numbers one by one.
func (s Stochastic) roundPart(f Format, dst, src []float64, index uint64) {
	if left := -index; left > 0 && left < uint64(len(src)) { // before the index wraps around to 0
		s.roundPart(f, dst[:left], src[:left], index)
		dst, src, index = dst[left:], src[left:], 0
	}
	n := min(len(src), int(-index%16))
	s.roundScalar(f, dst[:n], src[:n], index)
	n += vectorStochastic(f, s, dst[n:], src[n:], index+uint64(n))
	s.roundScalar(f, dst[n:], src[n:], index+uint64(n))
}

func (s Stochastic) roundScalar(f Format, dst, src []float64, index uint64) {
	var words [16]uint32
	for i, x := range src {
		j := (index + uint64(i)) % 16
		if i == 0 || j == 0 {
			words = s.words((index + uint64(i)) / 16)
		}
		dst[i] = f.roundStochastic(x, s.random(words[j]))
	}
}

// words returns the random words of indices 16 i to 16 i + 15. Index 16 i + 4j
// + l has word j of Philox counter 4i + l, so that four counters in the lanes
// of a vector give the words in the order of the indices.
func (s Stochastic) words(i uint64) [16]uint32 {
	var words [16]uint32
	key := [2]uint32{uint32(s.Seed), uint32(s.Seed >> 32)}
	for l := range uint64(4) {
		counter := 4*i + l
		for j, w := range philox([4]uint32{uint32(counter), uint32(counter >> 32)}, key) {
			words[4*uint64(j)+l] = w
		}
	}
	return words
}

// random returns the leading Bits bits of a word as a fraction in units of
// 2^-64.
func (s Stochastic) random(word uint32) uint64 {
	return uint64(word>>(32-s.Bits)) << (64 - s.Bits)
}

// roundStochastic rounds x away from zero if its fraction of a quantum and the
// random fraction add up to at least 1.
func (f *Format) roundStochastic(x float64, random uint64) float64 {
	if !finite(x) {
		return f.Round(x, ToNearestEven)
	}
	return f.roundRandom(unpack(x), stochastic, random)
}

func (s Stochastic) check() {
	if s.Bits < 1 || s.Bits > 32 {
		panic(fmt.Sprintf("tcore: Stochastic: Bits = %d, want 1 to 32", s.Bits))
	}
}
