package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
)

type shape struct{ m, k, n int }

// exactly returns x with enough precision for sums of products of any binary64
// numbers.
func exactly(x float64) *big.Float { return new(big.Float).SetPrec(4400).SetFloat64(x) }

// atWidth calls test with the vector instructions of the given number of bits.
func atWidth(bits int, test func()) {
	best := vectorBits
	defer func() { vectorBits = best }()
	vectorBits = bits
	test()
}

// onEveryWidth runs a test with the vector instructions of every width that the
// machine has, without any, and without and with those of every width that add
// products of digits.
func onEveryWidth(t *testing.T, test func(t *testing.T)) {
	for _, bits := range []int{0, 256, 512} {
		if bits <= vectorBits {
			withDigits(0, func() {
				atWidth(bits, func() { t.Run(fmt.Sprintf("%d bits", bits), test) })
			})
		}
	}
	fewest := fewestForDigits
	defer func() { fewestForDigits = fewest }()
	fewestForDigits = 1
	digitsOnEveryWidth(t, test)
}

// digitsOnEveryWidth runs a test with the vector instructions of every width
// that the machine has to add products of digits, with the others and without
// them, when there is nothing else to choose.
func digitsOnEveryWidth(t *testing.T, test func(t *testing.T)) {
	for _, bits := range []int{256, 512} {
		if bits <= vectorDigits {
			withDigits(bits, func() {
				t.Run(fmt.Sprintf("digits in %d bits", bits), test)
				atWidth(0, func() { t.Run(fmt.Sprintf("only digits in %d bits", bits), test) })
			})
		}
	}
}

// withDigits calls test with the sums of digits by vector instructions of the
// given number of bits, or without them.
func withDigits(bits int, test func()) {
	best := vectorDigits
	defer func() { vectorDigits = best }()
	vectorDigits = bits
	test()
}

// Exact sums with vectors of every width equal those of big.Float, on grids
// near the limits of digits, of 32-bit elements and of 64-bit sums.
func TestGEMMOnVectors(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(43, 0))
		for _, bits := range []int{1, 8, 12, 13, 24, 25, 28, 29, 30, 31, 32, 36, 37, 48, 60, 63} {
			for _, s := range []shape{{1, 1, 1}, {7, 40, 9}, {13, 300, 8}, {25, 1100, 17}, {51, 253, 33}} {
				a, b := matrix.New(s.m, s.k), matrix.New(s.k, s.n)
				exp := rng.IntN(60) - 90
				for _, m := range []blas32.General{a, b} {
					for i := range m.Data {
						n := int64(rng.Uint64()>>(64-min(bits, 24))) << rng.IntN(max(1, bits-23))
						if rng.IntN(2) == 0 {
							n = 1<<bits - 1<<max(0, bits-24) // the greatest
						}
						if rng.IntN(8) == 0 && bits < 63 {
							n = 1 << bits
						}
						if rng.IntN(16) == 0 {
							n = 1
						}
						if rng.IntN(3) == 0 {
							n = -n
						}
						m.Data[i] = float32(math.Ldexp(float64(n), exp))
					}
				}
				e, err := GEMM(a, b)
				abs, absErr := AbsGEMM(a, b)
				both, bothAbs, bothErr := GEMMs(a, b)
				if err != nil || absErr != nil || bothErr != nil {
					t.Fatal(err, absErr, bothErr)
				}
				if !reflect.DeepEqual(e, both) || !reflect.DeepEqual(abs, bothAbs) {
					t.Fatalf("%d bits, %v: GEMMs differs from GEMM or AbsGEMM", bits, s)
				}
				withDigits(0, func() {
					atWidth(0, func() {
						if slow, err := GEMM(a, b); !reflect.DeepEqual(e, slow) {
							t.Fatalf("%d bits, %v: not what is computed without vectors: %v", bits, s, err)
						}
					})
				})
				for range 10 {
					i, j := rng.IntN(s.m), rng.IntN(s.n)
					sum, sumAbs := exactly(0), exactly(0)
					for k := range s.k {
						x, y := float64(a.Data[i*s.k+k]), float64(b.Data[k*s.n+j])
						sum.Add(sum, exactly(x*y))
						sumAbs.Add(sumAbs, exactly(math.Abs(x*y)))
					}
					if got := e.At(i, j); got.Cmp(sum) != 0 {
						t.Fatalf("%d bits, %v: (%d, %d) = %x, want %x", bits, s, i, j, got, sum)
					}
					if got := abs.At(i, j); got.Cmp(sumAbs) != 0 {
						t.Fatalf("%d bits, %v: absolute (%d, %d) = %x, want %x", bits, s, i, j, got, sumAbs)
					}
				}
			}
		}
	})
}

// Rows and terms far apart have grids of their own, and the product one for all
// of them, whether their conversion is part of the product or not.
func TestGEMMOfManyGrids(t *testing.T) {
	digitsOnEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(45, 0))
		for _, spread := range []int{0, 3, 20, 22, 23, 24, 25, 26, 27, 30} { // of the grids; that of the sums is wider by 40 bits
			const m, k, n = 150, 4096 + 100, 9
			a, b := matrix.New(m, k), matrix.New(k, n)
			var shifts [m/48 + 1][k/4096 + 1]int
			for i := range shifts {
				for j := range shifts[i] {
					shifts[i][j] = rng.IntN(spread + 1)
				}
			}
			shifts[0][0], shifts[1][1] = 0, spread
			zeros := 2 + rng.IntN(3)
			for i := range m {
				for l, row := 0, matrix.Row(a, i); l < k; l++ {
					if i/48 != zeros {
						row[l] = float32(math.Ldexp(float64(rng.IntN(127)-63), shifts[i/48][l/4096]-60))
					}
				}
			}
			for i := range b.Data {
				b.Data[i] = float32(rng.IntN(1<<20)-1<<19) * 0x1p-24
			}
			third := func(dst, src []float32) {
				for i, x := range src {
					dst[i] = 3 * x
				}
			}
			ab, abs, err := GEMMs(a, b)
			converted, convertedAbs, convertedErr := GEMMsOf(a, b, third, nil)
			if err != nil || convertedErr != nil {
				t.Fatal(err, convertedErr)
			}
			third(a.Data, a.Data)
			other, otherAbs, err := GEMMs(a, b)
			if !reflect.DeepEqual(converted, other) || !reflect.DeepEqual(convertedAbs, otherAbs) {
				t.Fatalf("GEMMsOf differs from GEMMs of the converted matrix: %v", err)
			}
			withDigits(0, func() {
				for i := range a.Data {
					a.Data[i] /= 3
				}
				slow, slowAbs, err := GEMMs(a, b)
				if !reflect.DeepEqual(ab, slow) || !reflect.DeepEqual(abs, slowAbs) {
					t.Fatalf("shifts %v: not what is computed without digits: %v", shifts, err)
				}
			})
		}
	})
}

// A converted element that is not finite is named, in any row.
func TestGEMMsOfNamesBadData(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		a, b := matrix.New(100, 5), matrix.New(5, 20)
		a.Data[99*5+3], b.Data[4*20+17] = 1, 1
		inverse := func(dst, src []float32) {
			for i, x := range src {
				dst[i] = 1 / (1 - x)
			}
		}
		for want, err := range map[string]func() error{
			"exact: a[99, 3] = +Inf, want a finite number": func() error { _, _, err := GEMMsOf(a, b, inverse, inverse); return err },
			"exact: b[4, 17] = +Inf, want a finite number": func() error { _, _, err := GEMMsOf(a, b, nil, inverse); return err },
		} {
			if got := err(); got == nil || got.Error() != want {
				t.Errorf("error %v, want %s", got, want)
			}
		}
	})
}

// The grid of a row computed by vectors equals that computed element by
// element.
func TestGridOnVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 0))
	for range 2000 {
		x := make([]float32, 16)
		for i := range x {
			x[i] = math.Float32frombits(rng.Uint32() &^ (1<<rng.IntN(24) - 1))
			switch rng.IntN(16) {
			case 0:
				x[i] = 0
			case 1:
				x[i] = math.Float32frombits(rng.Uint32() & (1<<23 - 1))
			}
		}
		got, gotAt := gridOfRow(x)
		var want grid
		var wantAt int
		atWidth(0, func() { want, wantAt = gridOfRow(x) })
		if gotAt != wantAt || wantAt < 0 && got != want {
			t.Fatalf("%x: grid %v, not finite at %d, want %v and %d", x, got, gotAt, want, wantAt)
		}
	}
}

// Inner products of three terms equal sums of big.Float.
func FuzzGEMM(f *testing.F) {
	f.Add(float32(1), float32(0x1p-24), float32(-1), float32(0x1p127), float32(0x1p-149), float32(0x1p127))
	f.Add(float32(300), float32(1e-8), float32(-300), float32(300), float32(1e-8), float32(299))
	f.Fuzz(func(t *testing.T, a0, a1, a2, b0, b1, b2 float32) {
		a, b := filled(1, 3, a0, a1, a2), filled(3, 1, b0, b1, b2)
		onEveryWidth(t, func(t *testing.T) {
			e, err := GEMM(a, b)
			if err != nil {
				return
			}
			sum := exactly(0)
			for k, x := range a.Data {
				p := exactly(float64(x))
				sum.Add(sum, p.Mul(p, exactly(float64(b.Data[k]))))
			}
			if got := e.At(0, 0); got.Cmp(sum) != 0 {
				t.Errorf("GEMM(%x, %x) = %x, want %x", a.Data, b.Data, got, sum)
			}
		})
	})
}
