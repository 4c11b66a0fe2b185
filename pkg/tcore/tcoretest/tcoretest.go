// Package tcoretest is a suite of tests of properties that every matrix unit
// has, for authors of their own device:
//
//	func TestMyDevice(t *testing.T) { tcoretest.Device(t, mine) }
//
// It does not know the results of any unit. Whether a device reproduces a chip
// can only be tested with results of that chip, as roundoff vectors check does.
package tcoretest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// The seed of all random numbers.
const seed = 241118747

// Device runs the suite on a device, with one subtest for each property.
func Device(t *testing.T, d tcore.Device) {
	t.Run("adds small integers exactly", func(t *testing.T) { smallIntegers(t, d) })
	t.Run("returns numbers of C", func(t *testing.T) { numbersOfC(t, d) })
	t.Run("is odd", func(t *testing.T) { odd(t, d) })
	t.Run("scales with powers of two", func(t *testing.T) { powersOfTwo(t, d) })
	t.Run("does not fall when a product grows", func(t *testing.T) { monotone(t, d) })
	t.Run("passes on what is special", func(t *testing.T) { special(t, d) })
	t.Run("fills the last block with zeros", func(t *testing.T) { padding(t, d) })
	t.Run("traces what it computes", func(t *testing.T) { traces(t, d) })
	t.Run("computes codes as values", func(t *testing.T) { codes(t, d) })
	t.Run("multiplies matrices as vectors", func(t *testing.T) { matrices(t, d) })
}

// vectors returns n random numbers of A and of B, with magnitudes from about
// 2^-spread to 1, and one of C.
func vectors(d tcore.Device, r *rand.Rand, n int, spread float64) (x, y []float64, c float64) {
	draw := func(f tcore.Format) float64 {
		v := math.Exp2(-spread*r.Float64()) * (1 + r.Float64()) / 2
		if f.Sign == tcore.Signed && r.IntN(2) == 0 {
			v = -v
		}
		return f.Round(v, tcore.ToNearestEven)
	}
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = draw(d.A), draw(d.B)
	}
	return x, y, draw(d.C)
}

// smallIntegers: sums of products of small integers, which fit the bits that
// every unit keeps, are exact.
func smallIntegers(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 1))
	n := min(d.BlockTerms(), 64)
	for range 100 {
		x, y := make([]float64, n), make([]float64, n)
		want := float64(r.IntN(5) - 2)
		c := want
		for i := range x {
			x[i], y[i] = float64(r.IntN(3)-1), float64(1+r.IntN(2))
			want += x[i] * y[i]
		}
		if math.Abs(want) > math.Ldexp(1, d.C.Precision) {
			continue
		}
		if got := d.Dot(x, y, c); got != want {
			t.Fatalf("%v + %v · %v = %v, want %v", c, x, y, got, want)
		}
	}
}

func numbersOfC(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 2))
	for range 200 {
		x, y, c := vectors(d, r, 1+r.IntN(3*d.BlockTerms()), 6)
		if got := d.Dot(x, y, c); d.C.Round(got, tcore.ToNearestEven) != got {
			t.Fatalf("%v is no number of %s", got, d.C.Name)
		}
	}
}

// odd: rounding treats both signs alike, so that negating x and c negates the
// result. The unit of CDNA3 is not odd: it truncates numbers in two's
// complement, which rounds them downward.
func odd(t *testing.T, d tcore.Device) {
	if _, downward := d.Core.(tcore.TwoStage); downward {
		t.Skip("rounds downward")
	}
	r := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		x, y, c := vectors(d, r, 1+r.IntN(3*d.BlockTerms()), 6)
		want := -d.Dot(x, y, c)
		for i := range x {
			x[i] = -x[i]
		}
		if got := d.Dot(x, y, -c); got != want && math.Abs(got)+math.Abs(want) != 0 {
			t.Fatalf("of the negatives %v, want %v", got, want)
		}
	}
}

// powersOfTwo: halving all of y and c halves the result, unless something
// underflows.
func powersOfTwo(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 4))
draws:
	for range 200 {
		x, y, c := vectors(d, r, 1+r.IntN(3*d.BlockTerms()), 1)
		got := d.Dot(x, y, c)
		for i := range x {
			if y[i] /= 2; d.B.Round(y[i], tcore.ToNearestEven) != y[i] || math.Abs(y[i]) < d.B.MinNormal() {
				continue draws // the format has no such exponent
			}
		}
		if half := d.Dot(x, y, c/2); math.Abs(half) >= d.C.MinNormal() && 2*half != got {
			t.Fatalf("of the halves %v, want half of %v", half, got)
		}
	}
}

// monotone: if a product of one block grows and keeps its exponent, the sum
// does not decrease.
func monotone(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 5))
	n := d.BlockTerms()
	for range 200 {
		x, y, c := vectors(d, r, n, 4)
		i := r.IntN(n)
		x[i], y[i] = math.Abs(x[i]), math.Abs(y[i])
		before := d.Dot(x, y, c)
		up := math.Ldexp(1, 1-d.A.Precision) // times the binade of x: to the next number of A
		_, e := math.Frexp(x[i])
		next := x[i] + up*math.Ldexp(1, e-1)
		if _, f := math.Frexp(next); f != e || d.A.Round(next, tcore.ToZero) != next {
			continue
		}
		if crossesBinade(x[i]*y[i], next*y[i]) {
			continue
		}
		x[i] = next
		if after := d.Dot(x, y, c); after < before {
			t.Fatalf("product %d grew, and the sum fell from %v to %v", i, before, after)
		}
	}
}

// crossesBinade reports whether the exponents of two products differ.
func crossesBinade(before, after float64) bool {
	_, e := math.Frexp(before)
	_, f := math.Frexp(after)
	return e != f
}

func special(t *testing.T, d tcore.Device) {
	n := d.BlockTerms()
	ones := func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 1
		}
		return x
	}
	inf, nan := math.Inf(1), math.NaN()
	hasInf := func(f tcore.Format) bool { return math.IsInf(f.Round(inf, tcore.ToNearestEven), 1) }
	if math.IsNaN(d.A.Round(nan, tcore.ToNearestEven)) {
		x := ones()
		x[n-1] = nan
		if got := d.Dot(x, ones(), 0); !math.IsNaN(got) {
			t.Errorf("a NaN among the factors: %v", got)
		}
	}
	if math.IsNaN(d.C.Round(nan, tcore.ToNearestEven)) {
		if got := d.Dot(ones(), ones(), nan); !math.IsNaN(got) {
			t.Errorf("NaN + %d = %v", n, got)
		}
	}
	if hasInf(d.C) {
		if got := d.Dot(ones(), ones(), inf); !math.IsInf(got, 1) {
			t.Errorf("∞ + %d = %v", n, got)
		}
		if hasInf(d.A) {
			x := ones()
			x[0] = inf
			if got := d.Dot(x, ones(), math.Inf(-1)); !math.IsNaN(got) {
				t.Errorf("-∞ + ∞ = %v", got)
			}
			y := ones()
			y[0] = 0
			if got := d.Dot(x, y, 0); !math.IsNaN(got) {
				t.Errorf("∞ × 0 = %v", got)
			}
		}
	}
	if got := d.Dot(make([]float64, n), ones(), 0); got != 0 {
		t.Errorf("0 + 0 = %v", got)
	}
}

func padding(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 6))
	w := d.BlockTerms()
	for range 50 {
		x, y, c := vectors(d, r, 1+r.IntN(2*w), 6)
		want := d.Dot(x, y, c)
		for len(x)%w != 0 {
			x, y = append(x, 0), append(y, 0)
		}
		if got := d.Dot(x, y, c); got != want {
			t.Fatalf("with zeros %v, without %v", got, want)
		}
	}
}

func traces(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 7))
	for range 50 {
		x, y, c := vectors(d, r, 1+r.IntN(2*d.BlockTerms()), 6)
		if trace, want := d.Trace(x, y, c), d.Dot(x, y, c); trace.Result != want {
			t.Fatalf("traces %v, computes %v", trace.Result, want)
		}
	}
}

func codes(t *testing.T, d tcore.Device) {
	if d.ScaleBlock > 0 {
		t.Skip("codes of scales are DotScaled's")
	}
	r := rand.New(rand.NewPCG(seed, 8))
	for range 50 {
		x, y, c := vectors(d, r, 1+r.IntN(2*d.BlockTerms()), 6)
		want := d.C.Encode(d.Dot(x, y, c), tcore.ToNearestEven)
		if got := d.DotCodes(encoded(d.A, x), encoded(d.B, y), d.C.Encode(c, tcore.ToNearestEven)); got != want {
			t.Fatalf("of codes %#x, of values %#x", got, want)
		}
	}
}

// encoded returns codes in the form that instructions read: tf32 in a word of
// binary32.
func encoded(f tcore.Format, x []float64) []uint64 {
	if f.Equal(tcore.TF32) {
		f = tcore.Binary32
	}
	z := make([]uint64, len(x))
	for i, v := range x {
		z[i] = f.Encode(v, tcore.ToNearestEven)
	}
	return z
}

func matrices(t *testing.T, d tcore.Device) {
	r := rand.New(rand.NewPCG(seed, 9))
	for _, n := range []int{1, 5, 20} { // thin matrices, and one wide enough for vector code
		k := 2*d.BlockTerms() + 3
		a, b, c, z := general(r, 18, k, 1), general(r, k, n, 2), general(r, 18, n, 0), general(r, 18, n, 3)
		d.MultiplyAdd(a, b, c, z)
		for i := range a.Rows {
			for j := range n {
				x, y := make([]float64, k), make([]float64, k)
				for l := range k {
					x[l], y[l] = float64(a.Data[i*a.Stride+l]), float64(b.Data[l*b.Stride+j])
				}
				want := float32(d.Dot(x, y, float64(c.Data[i*c.Stride+j])))
				if got := z.Data[i*z.Stride+j]; got != want {
					t.Fatalf("%d × %d × %d, element (%d, %d): %v, as a dot product %v", a.Rows, k, n, i, j, got, want)
				}
			}
		}
	}
}

// general returns a random matrix of numbers in (-1, 1), with a stride of cols
// + beyond.
func general(r *rand.Rand, rows, cols, beyond int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: cols + beyond, Data: make([]float32, rows*(cols+beyond))}
	for i := range m.Data {
		m.Data[i] = float32(2*r.Float64() - 1)
	}
	return m
}

// GEMMer tests an implementation of matrix products in subtests. Its results
// must equal those of the machine bit for bit, for all transposes, several
// alpha and beta, and submatrices; and it must not write to other elements.
func GEMMer(t *testing.T, g tcore.GEMMer, machine tcore.Machine) {
	r := rand.New(rand.NewPCG(seed, 10))
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, scale := range [][2]float32{{1, 0}, {2, 1}, {-0.5, 3}} {
				t.Run(fmt.Sprintf("%c%c, alpha %v, beta %v", tA, tB, scale[0], scale[1]), func(t *testing.T) {
					const m, n, k = 7, 9, 70
					a, b, c := general(r, m, k, 1), general(r, k, n, 2), general(r, m, n, 3)
					if tA == blas.Trans {
						a = general(r, k, m, 1)
					}
					if tB == blas.Trans {
						b = general(r, n, k, 2)
					}
					got, want := general(r, m, n, 4), general(r, m, n, 4)
					copy(want.Data, got.Data)
					g.GEMM(tA, tB, scale[0], a, b, scale[1], c, got)
					machine.GEMM(tA, tB, scale[0], a, b, scale[1], c, want)
					for i := range got.Data {
						if math.Float32bits(got.Data[i]) != math.Float32bits(want.Data[i]) {
							t.Fatalf("row %d, column %d of %d: %v, want %v", i/got.Stride, i%got.Stride, n, got.Data[i], want.Data[i])
						}
					}
				})
			}
		}
	}
}
