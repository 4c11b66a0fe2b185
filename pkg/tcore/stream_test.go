package tcore

import (
	"math"
	"math/rand/v2"
	"testing"
)

// streamData returns n awkward operands: bit patterns of all kinds, infinities,
// NaN and subnormals among them, and sums that cancel.
func streamData(n int, rng *rand.Rand) (a, b, c []float32) {
	a, b, c = make([]float32, n), make([]float32, n), make([]float32, n)
	special := []uint32{0, 1 << 31, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0x00800000, 0x007fffff}
	pick := func() float32 {
		switch rng.IntN(4) {
		case 0:
			return math.Float32frombits(special[rng.IntN(len(special))])
		case 1:
			return math.Float32frombits(rng.Uint32())
		}
		return float32(awkward(Binary32, rng))
	}
	for i := range a {
		a[i], b[i], c[i] = pick(), pick(), pick()
		if rng.IntN(3) == 0 {
			c[i] = -float32(a[i] * b[i])
		}
	}
	return a, b, c
}

// Every vector routine agrees, at lengths around the vector width, with its
// pure Go version and with the arithmetic of the formats.
func TestStream(t *testing.T) {
	if !hasVectorKernels() {
		t.Log("no vector kernels here: testing the pure Go ones")
	}
	compare := func(t *testing.T, name string, got, want []float32) {
		t.Helper()
		for i := range want {
			if !same(float64(got[i]), float64(want[i])) {
				t.Fatalf("%s[%d] = %x, want %x", name, i, got[i], want[i])
			}
		}
	}
	rng := rand.New(rand.NewPCG(16, 0))
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 64, 1003, 20000} {
		a, b, c := streamData(n, rng)
		want, defined := make([]float32, n), make([]float32, n)
		guarded := fill(math.Pi, n+8)
		got := guarded[:n]

		StreamMAC(got, a, b, c)
		pureMAC(want, a, b, c)
		for i := range defined {
			defined[i] = float32(Binary32.MAC(float64(a[i]), float64(b[i]), float64(c[i]), ToNearestEven))
		}
		compare(t, "StreamMAC", got, want)
		compare(t, "StreamMAC", got, defined)

		StreamFMA(got, a, b, c)
		pureFMA(want, a, b, c)
		for i := range defined {
			defined[i] = float32(Binary32.FMA(float64(a[i]), float64(b[i]), float64(c[i]), ToNearestEven))
		}
		compare(t, "StreamFMA", got, want)
		compare(t, "StreamFMA", got, defined)

		a16, b16 := make([]uint16, n), make([]uint16, n)
		for i := range a16 {
			a16[i], b16[i] = uint16(rng.Uint32()), uint16(rng.Uint32())
		}
		StreamMPFMA(got, a16, b16, c)
		pureMPFMA(want, a16, b16, c)
		for i := range defined {
			x, y := Binary16.Decode(uint64(a16[i])), Binary16.Decode(uint64(b16[i]))
			defined[i] = float32(PaperF32.FMA(x, y, float64(c[i])))
		}
		compare(t, "StreamMPFMA", got, want)
		compare(t, "StreamMPFMA", got, defined)

		compare(t, "beyond the end", guarded[n:], fill(math.Pi, 8))
	}
}

// fill returns n elements x.
func fill(x float32, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = x
	}
	return s
}

func hasVectorKernels() bool {
	x := make([]float32, 8)
	return vectorMAC(x, x, x, x) == 8
}

func TestStreamInPlace(t *testing.T) {
	a, c := []float32{2, 2, 2, 2, 2, 2, 2, 2, 2}, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	StreamFMA(c, a, a, c)
	for i, x := range c {
		if x != float32(i)+5 {
			t.Errorf("c[%d] = %v, want %v", i, x, i+5)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	const n = 1 << 24
	x, y, z, d := uniform(1, n, 1).Data, uniform(1, n, 2).Data, uniform(1, n, 3).Data, make([]float32, n)
	x16, y16 := make([]uint16, n), make([]uint16, n)
	EncodeSlice16(x16, x)
	EncodeSlice16(y16, y)
	for _, bb := range []struct {
		name   string
		bytes  int64
		stream func()
	}{
		{"MAC", 16, func() { StreamMAC(d, x, y, z) }},
		{"FMA", 16, func() { StreamFMA(d, x, y, z) }},
		{"MPFMA", 12, func() { StreamMPFMA(d, x16, y16, z) }},
		{"MAC/pure", 16, func() { pureMAC(d, x, y, z) }},
		{"FMA/pure", 16, func() { pureFMA(d, x, y, z) }},
		{"MPFMA/pure", 12, func() { pureMPFMA(d, x16, y16, z) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(bb.bytes * n)
			for b.Loop() {
				bb.stream()
			}
			b.ReportMetric(2*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
		})
	}
}
