package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// data are generators with several ranges of exponents, and how many limbs the
// sums have; those that fit two have vector code.
var data = []struct {
	name   string
	number func(rng *rand.Rand) float32
	limbs  int
}{
	{"multiples of 2^-24", func(rng *rand.Rand) float32 { return float32(int32(rng.Uint32())>>7) * 0x1p-24 }, 1},
	{"binary16", func(rng *rand.Rand) float32 { return awkward(11, -24, rng) }, 2},
	{"large integers", func(rng *rand.Rand) float32 { return awkward(11, -24, rng) * 0x1p100 }, 2},
	{"55 bits", func(rng *rand.Rand) float32 { return float32(math.Ldexp(rng.Float64()-0.5, -rng.IntN(30))) }, 2},
	{"all of binary32", func(rng *rand.Rand) float32 { return awkward(24, -149, rng) }, 10},
	{"subnormals", func(rng *rand.Rand) float32 { return math.Float32frombits(rng.Uint32() &^ (0xff << 23)) }, 1},
	{"zeros", func(rng *rand.Rand) float32 { return 0 }, 1},
}

// GEMM and AbsGEMM equal sums of big.Rat.
func TestExactGEMM(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		rational := func(x float32) *big.Rat { return new(big.Rat).SetFloat64(float64(x)) }
		for _, data := range data {
			t.Run(data.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(15, 0))
				const m, k, n = 4, 21, 3
				a, b, d := matrix.New(m, k+1), matrix.New(k, n+2), matrix.New(m, n)
				a.Cols, b.Cols = k, n
				for _, x := range [][]float32{a.Data, b.Data, d.Data} {
					for i := range x {
						x[i] = data.number(rng)
					}
				}
				ab, err := GEMM(a, b)
				if err != nil {
					t.Fatal(err)
				}
				absolute, err := AbsGEMM(a, b)
				if err != nil {
					t.Fatal(err)
				}
				if rows, cols := ab.rows, ab.cols; rows != m || cols != n {
					t.Fatalf("%d × %d, want %d × %d", rows, cols, m, n)
				}
				if ab.limbs != data.limbs {
					t.Errorf("%d limbs, want %d: the data do not test the path they should", ab.limbs, data.limbs)
				}
				d64 := matrix.New64(m, n) // over most of the exponents of binary64
				for i := range d64.Data {
					d64.Data[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(2000)-1000)
				}
				values, errors, errors64 := ab.Float64(), ab.Error(d), ab.Error64(d64)
				for i := range m {
					for j := range n {
						sum, abs := new(big.Rat), new(big.Rat)
						for l := range k {
							p := new(big.Rat).Mul(rational(a.Data[i*a.Stride+l]), rational(b.Data[l*b.Stride+j]))
							sum.Add(sum, p)
							abs.Add(abs, p.Abs(p))
						}
						if got, _ := ab.At(i, j).Rat(nil); got.Cmp(sum) != 0 {
							t.Fatalf("AB[%d, %d] = %v, want %v", i, j, got, sum)
						}
						if got, _ := absolute.At(i, j).Rat(nil); got.Cmp(abs) != 0 {
							t.Fatalf("|A||B|[%d, %d] = %v, want %v", i, j, got, abs)
						}
						if want, _ := sum.Float64(); values.Data[i*n+j] != want {
							t.Fatalf("Float64[%d, %d] = %v, want %v", i, j, values.Data[i*n+j], want)
						}
						diff64 := new(big.Rat).SetFloat64(d64.Data[i*n+j])
						if want, _ := diff64.Sub(diff64, sum).Float64(); errors64.Data[i*n+j] != want {
							t.Fatalf("Error64[%d, %d] = %v, want %v", i, j, errors64.Data[i*n+j], want)
						}
						diff := sum.Sub(rational(d.Data[i*n+j]), sum)
						if want, _ := diff.Float64(); errors.Data[i*n+j] != want {
							t.Fatalf("Error[%d, %d] = %v, want %v", i, j, errors.Data[i*n+j], want)
						}
					}
				}
			})
		}
	})
}

func TestExactGEMMCancels(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		// 2^127 × 2^127 + 2^-149 × 2^-149 - 2^127 × 2^127: 552 bits apart.
		a := filled(1, 3, 0x1p127, 0x1p-149, -0x1p127)
		b := filled(3, 1, 0x1p127, 0x1p-149, 0x1p127)
		e, err := GEMM(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Float64().Data[0]; got != 0x1p-298 {
			t.Errorf("sum = %g, want 2^-298", got)
		}
		if got := e.Error(filled(1, 1, 0)).Data[0]; got != -0x1p-298 {
			t.Errorf("error of 0 = %g, want -2^-298", got)
		}
	})
}

// The largest sums of each width, of both signs, do not overflow.
func TestExactGEMMHoldsTheLargestSums(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, spread := range []int{58, 59, 60, 61, 62, 63, 90, 91, 92, 122} { // the least element is 2^-spread
			for _, sign := range []float32{1, -1} {
				const k = 64
				a, b := matrix.New(1, k), matrix.New(k, 1)
				for i := range k {
					a.Data[i], b.Data[i] = sign*(2-0x1p-23), 2-0x1p-23
				}
				a.Data[0], b.Data[0] = float32(math.Ldexp(1, -spread)), float32(math.Ldexp(1, -spread))
				e, err := GEMM(a, b)
				if err != nil {
					t.Fatal(err)
				}
				one := new(big.Rat).SetFloat64(float64(2 - float32(0x1p-23)))
				want := new(big.Rat).Mul(one, one)
				want.Mul(want, big.NewRat(int64(sign)*(k-1), 1))
				want.Add(want, new(big.Rat).SetFloat64(math.Ldexp(1, -2*spread)))
				if got, _ := e.At(0, 0).Rat(nil); got.Cmp(want) != 0 {
					t.Errorf("least element 2^-%d, %d limbs: sum = %v, want %v", spread, e.limbs, got, want)
				}
			}
		}
	})
}

// Sums of the greatest digits, of both signs, overflow neither 32-bit lanes nor
// 64-bit words, for as many terms as the product can have.
func TestExactGEMMHoldsTheGreatestDigits(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, bits := range []int{12, 13, 24, 25, 36, 48, 60} {
			for _, greatest := range []float64{math.Ldexp(1, bits), math.Ldexp(1, bits) - math.Ldexp(1, max(0, bits-24))} {
				for _, sign := range []float32{1, -1} {
					k := min(3*4096+254, 1<<min(62, 124-2*bits))
					a, b := matrix.New(1, k), matrix.New(k, 9)
					for i := range a.Data {
						a.Data[i] = float32(greatest)
					}
					for i := range b.Data {
						b.Data[i] = sign * float32(greatest)
					}
					a.Data[0], b.Data[0] = 1, 1
					ab, abs, err := GEMMs(a, b)
					if err != nil {
						t.Fatal(err)
					}
					product := new(big.Int).Mul(integer(greatest), integer(greatest))
					for j := range 9 {
						want := new(big.Int).Mul(product, big.NewInt(int64(k-1)))
						first := integer(float64(b.Data[j]))
						if want.Add(want, first.Abs(first)); abs.At(0, j).Cmp(new(big.Float).SetInt(want)) != 0 {
							t.Fatalf("%d bits: |A||B|[0, %d] = %v, want %v", bits, j, abs.At(0, j), want)
						}
						want.Mul(product, big.NewInt(int64(sign)*int64(k-1)))
						if want.Add(want, integer(float64(b.Data[j]))); ab.At(0, j).Cmp(new(big.Float).SetInt(want)) != 0 {
							t.Fatalf("%d bits: AB[0, %d] = %v, want %v", bits, j, ab.At(0, j), want)
						}
					}
				}
			}
		}
	})
}

// Sums of one limb reach almost ±2^63: that they fit is known from the sums of
// the columns of B. Those that just do not fit have two limbs.
func TestExactGEMMHoldsTheLargestSumsOfALimb(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		const k = 1 << 13
		for zeros, limbs := range map[int]int{16: 1, 6: 2} { // of b; the others are 1 and 2^26
			for _, sign := range []float32{1, -1} {
				a, b := matrix.New(2, k), matrix.New(k, 3)
				for i := range a.Data {
					a.Data[i] = 1<<24 - 1
				}
				for i := range k - zeros {
					b.Data[3*i+1] = sign * (1 << 26)
				}
				b.Data[1] = sign
				ab, abs, err := GEMMs(a, b)
				if err != nil {
					t.Fatal(err)
				}
				if ab.limbs != limbs {
					t.Errorf("%d zeros: %d limbs, want %d", zeros, ab.limbs, limbs)
				}
				want := new(big.Int).Mul(big.NewInt(1<<24-1), big.NewInt(int64(k-zeros-1)<<26+1))
				if got := abs.At(1, 1); got.Cmp(new(big.Float).SetInt(want)) != 0 {
					t.Errorf("|A||B| = %v, want %v", got, want)
				}
				want.Mul(want, big.NewInt(int64(sign)))
				if got := ab.At(1, 1); got.Cmp(new(big.Float).SetInt(want)) != 0 {
					t.Errorf("AB = %v, want %v", got, want)
				}
			}
		}
	})
}

// Products by zeros are zeros, whatever the bits of the other factor.
func TestExactGEMMOfZeros(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for _, least := range []float32{0x1p-149, 0x1p20, 0x1p60, 0x1p66, 0x1p100} {
			a, zeros := matrix.New(8, 8), matrix.New(8, 8)
			a.Data[0], a.Data[1] = least, 0x1p127
			for _, factors := range [][2]blas32.General{{a, zeros}, {zeros, a}, {zeros, zeros}} {
				ab, abs, err := GEMMs(factors[0], factors[1])
				if err != nil {
					t.Fatal(err)
				}
				if got := append(ab.Float64().Data, abs.Float64().Data...); slices.ContainsFunc(got, func(x float64) bool { return x != 0 }) {
					t.Errorf("%x by zeros: %v", least, got)
				}
			}
		}
	})
}

// integer returns the integer x.
func integer(x float64) *big.Int {
	z, _ := exactly(x).Int(nil)
	return z
}

// Errors are right where a difference just fits 64 bits and where it does not.
func TestErrorAtTheEndOfALimb(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(16, 0))
		for range 20_000 {
			x := float32(1+rng.IntN(1<<24)) * 0x1p7
			y := float32(1+rng.IntN(1<<24)) * 0x1p7
			exp := rng.IntN(50) - 60
			unit := float32(math.Ldexp(1, exp))
			e, err := GEMM(filled(2, 2, x*unit, x*unit, unit, 0), filled(2, 2, -y, 1, -y, 0)) // -2xy in units of 2^exp, and others
			if err != nil {
				t.Fatal(err)
			}
			if e.limbs != 1 {
				t.Fatalf("%d limbs, want 1", e.limbs)
			}
			near := math.Ldexp(1, 58+rng.IntN(6))
			d := math.Ldexp(near+near*0x1p-52*float64(rng.IntN(5)-2), exp)
			if rng.IntN(4) == 0 {
				d *= 1 + rng.Float64()
			}
			if rng.IntN(2) == 0 {
				d = -d
			}
			diff := exactly(d)
			want, _ := diff.Sub(diff, e.At(0, 0)).Float64()
			if got := e.Error64(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{d, 0, 0, 0}}).Data[0]; got != want {
				t.Fatalf("%x - %v = %x, want %x", d, e.At(0, 0), got, want)
			}
		}
	})
}

func TestExactGEMMHoldsOneWideFactor(t *testing.T) {
	onEveryWidth(t, func(t *testing.T) {
		for spread := 60; spread < 68; spread++ {
			least := float32(math.Ldexp(1, -spread))
			e, err := GEMM(filled(1, 2, -1.5, least), filled(2, 1, 1, 1))
			if err != nil {
				t.Fatal(err)
			}
			want := exactly(-1.5)
			want.Add(want, exactly(float64(least)))
			if got := e.At(0, 0); got.Cmp(want) != 0 {
				t.Errorf("-1.5 + 2^-%d = %x", spread, got)
			}
		}
	})
}

// d - AB = 2^127 - (2^73 + 2^-298) lies just below a midpoint of binary64.
func TestErrorIsRoundedOnce(t *testing.T) {
	e, err := GEMM(filled(1, 2, 0x1p100, 0x1p-149), filled(2, 1, 0x1p-27, 0x1p-149))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Error(filled(1, 1, 0x1p127)).Data[0], 0x1p127-0x1p74; got != want {
		t.Errorf("Error = %x, want %x", got, want)
	}
}

func TestExactGEMMNamesBadData(t *testing.T) {
	inf := float32(math.Inf(1))
	good := filled(2, 2, 1, 2, 3, 4)
	for _, tt := range []struct {
		a, b blas32.General
		want string
	}{
		{filled(2, 2, 1, 2, inf, 4), good, "a[1, 0] = +Inf"},
		{good, filled(2, 2, 1, float32(math.NaN()), 3, 4), "b[0, 1] = NaN"},
	} {
		both := func(a, b blas32.General) (Matrix, error) {
			e, _, err := GEMMs(a, b)
			return e, err
		}
		for _, gemm := range []func(a, b blas32.General) (Matrix, error){GEMM, AbsGEMM, both} {
			if _, err := gemm(tt.a, tt.b); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %s", err, tt.want)
			}
		}
	}
}

func TestErrorOfNotFinite(t *testing.T) {
	e, err := GEMM(filled(1, 1, 1), filled(1, 2, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	got := e.Error(filled(1, 2, float32(math.Inf(-1)), float32(math.NaN())))
	if !math.IsInf(got.Data[0], -1) || !math.IsNaN(got.Data[1]) {
		t.Errorf("Error = %v, want -Inf and NaN", got.Data)
	}
}

// awkward returns a number of at most the given bits: with few ones, with long
// runs of ones, or random. It is at least 2^least, and at most the greatest
// number of binary16 or of binary32.
func awkward(precision, least int, rng *rand.Rand) float32 {
	n := rng.Uint64() >> (64 - precision)
	switch rng.IntN(4) {
	case 0: // one or two bits
		n = 1<<(precision-1) | 1<<rng.IntN(precision)
	case 1: // ones, then zeros
		n = 1<<precision - 1<<rng.IntN(precision)
	case 2: // next to a power of two
		n = 1<<(precision-1) + uint64(rng.IntN(2))
	}
	greatest := 104
	if precision == 11 {
		greatest = 5
	}
	x := float32(math.Ldexp(float64(n), least+rng.IntN(greatest-least+1)))
	if rng.IntN(2) == 0 {
		return -x
	}
	return x
}

// filled returns a matrix of the given elements.
func filled(rows, cols int, x ...float32) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: x}
}

// A matrix whose stride implies more elements than an int can count is refused
// before anything is computed.
func TestExact_refuses_a_stride_without_end(t *testing.T) {
	long := blas32.General{Rows: 3, Cols: 2, Stride: math.MaxInt/2 + 2, Data: make([]float32, 6)}
	b := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}
	exact, err := GEMM(blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 6)}, b)
	if err != nil {
		t.Fatal(err)
	}
	tall := blas64.General{Rows: 3, Cols: 1, Stride: math.MaxInt/2 + 1, Data: make([]float64, 3)}
	for want, call := range map[string]func(){
		"exact: GEMM: a has 6 elements, want at least 9223372036854775808": func() { GEMM(long, b) },
		"exact: AbsGEMM: a has 6 elements, want at least ":                 func() { AbsGEMM(long, b) },
		"exact: Error64: d is 3 × 1 of stride 4611686018427387904 with 3 ": func() { exact.Error64(tall) },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, want) {
					t.Errorf("panic %q, want %q", r, want)
				}
			}()
			call()
		}()
	}
}
