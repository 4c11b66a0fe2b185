package tcore

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

// halfMatrix returns a matrix of which every row is of one kind of numbers for
// sums in binary16: small integers, whose sums have ties; numbers whose
// products are near ties; numbers near those at which subnormal sums and
// overflow begin; and those of fusedMatrix.
func halfMatrix(rng *rand.Rand, rows, cols int, rare float64) blas32.General {
	m := fusedMatrix(rng, rows, cols, Binary16, rare)
	for i := range rows {
		kind := rng.IntN(10)
		for j := range cols {
			x := &m.Data[i*cols+j]
			switch kind {
			case 0: // products and sums with ties
				*x = float32(rng.IntN(65)-32) * 0x1p-3
			case 1: // sums around 2^-14
				*x = float32(rng.IntN(2048)-1024) * 0x1p-18
			case 2: // subnormal sums with bits far below
				*x = float32(1+rng.IntN(2048)) * 0x1p-23 * float32(1-2*rng.IntN(2))
			case 3: // sums around the greatest number
				*x = float32(rng.NormFloat64()) * 100
			case 5: // products near a power of two
				*x = (1 + float32(rng.IntN(3)-1)*0x1p-10) * float32(exp2(rng.IntN(14)-7)) * float32(1-2*rng.IntN(2))
			case 6: // the same, subnormal
				*x = (1 + float32(rng.IntN(3)-1)*0x1p-10) * float32(exp2(rng.IntN(4)-14)) * float32(1-2*rng.IntN(2))
			case 4: // a number of one bit, or zero of either sign
				*x = float32(exp2(rng.IntN(20)-10)) * float32(rng.IntN(3)-1)
				if *x == 0 && rng.IntN(2) == 0 {
					*x = float32(math.Copysign(0, -1))
				}
			}
			if rng.IntN(40) == 0 && kind < 3 {
				*x = float32(math.Ldexp(float64(*x), rng.IntN(9)-4))
			}
		}
	}
	return m
}

// Sums in binary16 agree with Dot at every level of features, for shapes around
// the sizes of tiles, panels and chunks, thin ones too, whole blocks or not,
// with and without C, finite or not.
func TestHalfProduct(t *testing.T) {
	d := PaperF16.Device("paper-f16")
	wide := PaperF16
	wide.High, wide.Block = Binary32, 3
	others := []Device{wide.Device("wide"), wide.Device("wide with C in binary32"), d, AVX512F16}
	others[1].C = Binary32
	others[2].Name, others[2].Convert = "paper-f16 of truncated factors", ToZero
	shapes := []shape{{1, 1, 1}, {1, 4, 64}, {14, 33, 64}, {15, 31, 65}, {8, 513, 32}, {9, 530, 33}, {29, 1030, 9},
		{65, 20, 8}, {100, 17, 1}, {70, 515, 31}, {6, 40, 8}, {13, 7, 130}, {3, 90, 4}, {2, 16, 200}}
	trials := 4
	if testing.Short() {
		trials = 1
	}
	onEveryLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(81, 0))
		for trial := range trials {
			for _, s := range shapes {
				rare := [...]float64{0, 0, 0.0005, 0.01}[trial%4]
				a, b := halfMatrix(rng, s.m, s.k, rare), halfMatrix(rng, s.n, s.k, rare)
				c := blas32.General{}
				if rng.IntN(2) == 0 {
					c = halfMatrix(rng, s.m, s.n, rare)
				}
				compareProduct(t, rng, d, a, matrix.Transpose(b), c, 4)
				compareProduct(t, rng, AVX512F16, a, matrix.Transpose(b), c, 4)
				for i := range a.Data {
					a.Data[i] *= 1 + 0x1p-11*float32(rng.IntN(2)) // not in binary16
				}
				for i := range c.Data {
					c.Data[i] *= 1 + 0x1p-12*float32(rng.IntN(2))
				}
				compareProduct(t, rng, others[rng.IntN(len(others))], a, matrix.Transpose(b), c, 1)
			}
		}
	})
}

// A core that adds in binary16 to a C in binary32 does not round this C before.
func TestHalfProductOfAWideC(t *testing.T) {
	core := PaperF16
	core.High = Binary32
	d := core.Device("wide")
	d.C = Binary32
	onEveryLevel(t, func(t *testing.T) {
		z := zeros(1, 1)
		d.MultiplyAdd(filled(1, 1, 0x1p-11), filled(1, 1, 1), filled(1, 1, 1+0x1p-12), z)
		if z.Data[0] != 1+0x1p-10 {
			t.Errorf("1 + 2^-12 + 2^-11 = %x, want 1 + 2^-10", z.Data[0])
		}
	})
}

// Each level takes its own way, and only sums that are not finite are computed
// one by one.
func TestHalfPaths(t *testing.T) {
	for _, d := range []Device{PaperF16.Device("paper-f16"), AVX512F16} {
		t.Run(d.Name, func(t *testing.T) { testHalfPaths(t, d) })
	}
}

func testHalfPaths(t *testing.T, d Device) {
	onEveryLevel(t, func(t *testing.T) {
		want := halfSumsPath
		if features.FP16 {
			want = halfFMAPath
		}
		a, b, z := uniform(20, 600, 1), uniform(600, 70, 2), zeros(20, 70)
		count := func(c blas32.General) (fast, slow int64) {
			n := counted(func() { d.MultiplyAdd(a, b, c, z) })
			return n[want], n[halfSlowPath]
		}
		for _, c := range []blas32.General{{}, uniform(20, 70, 3)} {
			fast, slow := count(c)
			if slow != 0 || (fast == 20*600*70) != (features.Bits > 0) {
				t.Errorf("C given is %v: %d of %d in %s, %d one by one", c.Data != nil, fast, 20*600*70, want.name, slow)
			}
		}
		a.Data[0] = float32(math.Inf(1))
		fast, slow := count(blas32.General{})
		if features.Bits > 0 && fast+slow != 20*600*70 {
			t.Errorf("%d of %d in %s, and %d one by one", fast, 20*600*70, want.name, slow)
		}
		if (slow > 0) != (features.Bits > 0 && !features.FP16) {
			t.Errorf("with an infinity %d are computed one by one", slow)
		}
		a.Data[0] = 1
		for i := range a.Data {
			a.Data[i] *= 0x1p-16
		}
		if _, slow = count(blas32.General{}); (slow > 0) != (features.Bits > 0 && !features.FP16) {
			t.Errorf("of subnormal sums %d are computed one by one", slow)
		}
	})
}

// FuzzHalfProduct compares sums in binary16 of any codes with Dot.
func FuzzHalfProduct(f *testing.F) {
	f.Add(uint64(1), uint8(3), []byte{0, 60, 1, 0, 255, 123, 0, 4})
	d := PaperF16.Device("paper-f16")
	f.Fuzz(func(t *testing.T, seed uint64, terms uint8, data []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		codes := func(rows, cols int) blas32.General {
			m := halfMatrix(rng, rows, cols, 0)
			for i := range m.Data {
				if n := len(data) / 2; n > 0 && rng.IntN(4) > 0 {
					at := 2 * rng.IntN(n)
					m.Data[i] = float32(Binary16.Decode(uint64(binary.LittleEndian.Uint16(data[at:]))))
				}
			}
			return m
		}
		k := 1 + int(terms)
		a, b, c := codes(9, k), codes(k, 35), codes(9, 35)
		for _, l := range features.Levels() {
			with(l, func() {
				for _, d := range []Device{d, AVX512F16} {
					compareProduct(t, rng, d, a, b, c, 4)
					compareProduct(t, rng, d, a, b, blas32.General{}, 4)
				}
			})
		}
	})
}
