package tcore

import "math/bits"

// Philox-4x32 with ten rounds is a counter-based generator: four random words
// are a function of a key and a counter, and there is no state to share among
// threads (Salmon et al. 2011).
const (
	philoxRounds      = 10
	philoxMultiplier0 = 0xd2511f53
	philoxMultiplier1 = 0xcd9e8d57
	philoxWeyl0       = 0x9e3779b9 // every round adds these to the key: the golden ratio
	philoxWeyl1       = 0xbb67ae85 // and √3 - 1
)

// philox returns the four random words of a counter under a key.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	c, k := counter, key
	for range philoxRounds {
		high0, low0 := bits.Mul32(philoxMultiplier0, c[0])
		high1, low1 := bits.Mul32(philoxMultiplier1, c[2])
		c = [4]uint32{high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0}
		k[0] += philoxWeyl0
		k[1] += philoxWeyl1
	}
	return c
}
