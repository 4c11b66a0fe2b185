package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/roundofflab/roundoff/internal/limbs"
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix is a matrix of exact values in fixed point: every element is an
// integer times one common power of two.
type Matrix struct {
	rows, cols int
	exp        int      // elements are multiples of 2^exp
	limbs      int      // length of an element
	data       []uint64 // elements row by row, in two's complement, the low limb first
}

// GEMM returns AB, the exact product for all finite data. The matrices are
// row-major, a is M × K and b is K × N. The error names an element that is not
// finite. It panics if the shapes do not fit, a matrix is empty, or its data
// are too short.
//
// Elements are scaled to integers. If these fit 31 bits and their products 58,
// as for multiples of 2^-24 below 1, vector instructions take a few times as
// long as MultiplyAdd of a tcore.Device. If they fit 63 bits and the sums of K
// products 127, it takes several times longer. Otherwise it sums in as many
// 64-bit limbs as the data need, which takes longer still (Kulisch 2013, the
// exact dot product).
func GEMM(a, b blas32.General) (Matrix, error) {
	return gemm("GEMM", a, b, false)
}

// AbsGEMM returns |A||B|. Its elementwise quotient by |AB| is the paper's
// condition number. The error and the panics are those of [GEMM].
func AbsGEMM(a, b blas32.General) (Matrix, error) {
	return gemm("AbsGEMM", a, b, true)
}

func gemm(call string, a, b blas32.General, abs bool) (Matrix, error) {
	matrix.CheckProduct("exact", call, a, b)
	of := func(x float32) float32 { return x }
	if abs {
		of = func(x float32) float32 { return float32(math.Abs(float64(x))) }
	}
	ga, err := gridOf("a", a)
	if err != nil {
		return Matrix{}, err
	}
	gb, err := gridOf("b", b)
	if err != nil {
		return Matrix{}, err
	}

	// |sum| < K 2^(ga.bits+gb.bits), and one bit for the sign.
	need := ga.bits() + gb.bits() + bits.Len(uint(a.Cols-1)) + 1
	e := Matrix{rows: a.Rows, cols: b.Cols, exp: ga.low + gb.low, limbs: 2}
	if need <= 128 && ga.bits() < 64 && gb.bits() < 64 {
		e.data = make([]uint64, 2*a.Rows*b.Cols)
		if !integerSums(e, a, b, ga, gb, abs) {
			product(e, a, b, ga.integers(of), gb.integers(of), dot128)
		}
	} else {
		e.limbs = need/64 + 2
		e.data = make([]uint64, e.limbs*a.Rows*b.Cols)
		product(e, a, b, ga.terms(of), gb.terms(of), dotWide)
	}
	return e, nil
}

// product sets every element of e to the inner product of a row of a and a
// column of b, whose elements ofA and ofB convert.
func product[T any](e Matrix, a, b blas32.General, ofA, ofB func(float32) T, dot func(z []uint64, x, y []T)) {
	columns := make([][]T, b.Cols)
	for j := range columns {
		columns[j] = make([]T, b.Rows)
		for k := range columns[j] {
			columns[j][k] = ofB(b.Data[k*b.Stride+j])
		}
	}
	parallel.Ranges(a.Rows, func(lo, hi int) {
		x := make([]T, a.Cols)
		for i := lo; i < hi; i++ {
			for k, v := range matrix.Row(a, i) {
				x[k] = ofA(v)
			}
			for j, y := range columns {
				dot(e.element(i, j), x, y)
			}
		}
	})
}

// dot128 stores the inner product of x and y in the two limbs of z.
func dot128(z []uint64, x, y []int64) {
	var high, low, carry uint64
	y = y[:len(x)]
	for k, xk := range x {
		yk := y[k]
		hi, lo := bits.Mul64(uint64(xk), uint64(yk))
		hi -= uint64(xk>>63&yk) + uint64(yk>>63&xk) // unsigned to signed
		low, carry = bits.Add64(low, lo, 0)
		high += hi + carry
	}
	z[0], z[1] = low, high
}

// dotWide stores the inner product of x and y in the limbs of z.
func dotWide(z []uint64, x, y []term) {
	for k := range x {
		limbs.AddShifted(z, x[k].sig*y[k].sig, uint(x[k].shift)+uint(y[k].shift))
	}
}

// grid is the coarsest fixed-point grid that contains the elements of a matrix:
// every element is a multiple of 2^low, and less than 2^high in magnitude.
type grid struct{ low, high int }

func (g grid) bits() int { return g.high - g.low }

// gridOf returns the grid of the matrix called name, or an error that names
// its first element that is not finite.
func gridOf(name string, m blas32.General) (grid, error) {
	g := noGrid
	var mu sync.Mutex
	bad := m.Rows
	parallel.Ranges(m.Rows, func(lo, hi int) {
		part := noGrid
		for i := lo; i < hi; i++ {
			one, nonFinite := gridOfRow(matrix.Row(m, i))
			if nonFinite >= 0 {
				mu.Lock()
				defer mu.Unlock()
				bad = min(bad, i)
				return
			}
			part = part.union(one)
		}
		mu.Lock()
		defer mu.Unlock()
		g = g.union(part)
	})
	if bad < m.Rows {
		_, j := gridOfRow(matrix.Row(m, bad))
		return g, fmt.Errorf("exact: %s[%d, %d] = %v, want a finite number", name, bad, j, matrix.Row(m, bad)[j])
	}
	if g == noGrid { // all zeros
		return grid{}, nil
	}
	return g, nil
}

// noGrid is the grid of a matrix of zeros.
var noGrid = grid{low: math.MaxInt, high: math.MinInt}

// union returns the coarsest grid that contains both grids.
func (g grid) union(h grid) grid {
	return grid{min(g.low, h.low), max(g.high, h.high)}
}

// gridOfRow returns the grid of x and the index of the first element that is
// not finite, or -1.
func gridOfRow(x []float32) (g grid, nonFinite int) {
	g, n := vectorGrid(x)
	if n == 0 {
		g = noGrid
	}
	for j, x := range x[n:] {
		switch {
		case x == 0:
		case finite(float64(x)):
			v := unpack(float64(x))
			g = g.union(grid{v.exp + bits.TrailingZeros64(v.sig), v.exp + bits.Len64(v.sig)})
		default:
			return g, n + j
		}
	}
	return g, -1
}

// integers returns the conversion of elements to integer multiples of 2^low.
func (g grid) integers(of func(float32) float32) func(float32) int64 {
	scale := math.Ldexp(1, -g.low)
	return func(x float32) int64 { return int64(float64(of(x)) * scale) }
}

// term is the number sig × 2^shift in units of 2^low.
type term struct {
	sig   int64
	shift int
}

// terms returns the conversion of elements to terms.
func (g grid) terms(of func(float32) float32) func(float32) term {
	return func(x float32) term {
		if x == 0 {
			return term{}
		}
		v := unpack(float64(of(x)))
		n := bits.TrailingZeros64(v.sig)
		t := term{sig: int64(v.sig >> n), shift: v.exp + n - g.low}
		if v.neg {
			t.sig = -t.sig
		}
		return t
	}
}

// At returns the element at row i and column j, exactly. It panics if i or j is
// out of range.
func (e Matrix) At(i, j int) *big.Float {
	if i < 0 || i >= e.rows || j < 0 || j >= e.cols {
		panic(fmt.Sprintf("exact: At: (%d, %d), want an element of a %d × %d matrix", i, j, e.rows, e.cols))
	}
	var sum, limb big.Int
	z := e.element(i, j)
	sum.SetInt64(int64(z[e.limbs-1]))
	for l := e.limbs - 2; l >= 0; l-- {
		sum.Lsh(&sum, 64).Add(&sum, limb.SetUint64(z[l]))
	}
	x := new(big.Float).SetInt(&sum)
	return x.SetMantExp(x, e.exp)
}

// element returns the limbs of an element.
func (e Matrix) element(i, j int) []uint64 {
	k := (i*e.cols + j) * e.limbs
	return e.data[k : k+e.limbs]
}

// Float64 returns the matrix correctly rounded to binary64.
func (e Matrix) Float64() blas64.General {
	return e.values(func(i, j int) float64 {
		if z, ok := e.short(i, j); ok {
			return z.float64(e.exp)
		}
		x, _ := e.At(i, j).Float64()
		return x
	})
}

// Error returns D - E, the error of a computed d: subtracted exactly, then
// rounded once to binary64. Where d is NaN or infinite, the error is that
// value. It panics if the shapes differ, or if d is empty or its data are too
// short.
func (e Matrix) Error(d blas32.General) blas64.General {
	matrix.Check("exact", "Error", "d", d)
	e.checkShape("Error", d.Rows, d.Cols)
	return e.values(func(i, j int) float64 { return e.errorAt(i, j, float64(d.Data[i*d.Stride+j])) })
}

// Error64 is [Matrix.Error] for a matrix d in binary64.
func (e Matrix) Error64(d blas64.General) blas64.General {
	if d.Rows < 1 || d.Cols < 1 || d.Stride < d.Cols || !matrix.Holds(len(d.Data), d.Rows, d.Cols, d.Stride) {
		panic(fmt.Sprintf("exact: Error64: d is %d × %d of stride %d with %d elements", d.Rows, d.Cols, d.Stride, len(d.Data)))
	}
	e.checkShape("Error64", d.Rows, d.Cols)
	return e.values(func(i, j int) float64 { return e.errorAt(i, j, d.Data[i*d.Stride+j]) })
}

// checkShape panics unless a matrix of the given shape has the shape of e.
func (e Matrix) checkShape(call string, rows, cols int) {
	if rows != e.rows || cols != e.cols {
		panic(fmt.Sprintf("exact: %s: d is %d × %d, want %d × %d", call, rows, cols, e.rows, e.cols))
	}
}

// errorAt returns x minus an element, rounded once, or x itself if it is not
// finite.
func (e Matrix) errorAt(i, j int, x float64) float64 {
	if !finite(x) {
		return x
	}
	if z, ok := e.short(i, j); ok {
		if y, ok := int128Of(x, e.exp); ok {
			return y.minus(z).float64(e.exp)
		}
	}
	// The bits of an element lie between 2^-298, the least product, and 2^319, a
	// sum of 2^63 greatest products; those of x lie between 2^-1074 and 2^1024.
	const prec = 1074 + 1024
	diff := new(big.Float).SetPrec(prec).SetFloat64(x)
	z, _ := diff.Sub(diff, e.At(i, j)).Float64()
	return z
}

// short returns an element in units of 2^exp; ok is false unless it lies in
// [-2^126, 2^126).
func (e Matrix) short(i, j int) (z int128, ok bool) {
	limbs := e.element(i, j)
	if len(limbs) == 1 {
		return int128{int64(limbs[0]) >> 63, limbs[0]}, true
	}
	z = int128{int64(limbs[1]), limbs[0]}
	for _, l := range limbs[2:] {
		if int64(l) != z.hi>>63 {
			return z, false
		}
	}
	return z, z.hi>>62 == z.hi>>63
}

// values returns the matrix whose element (i, j) is f(i, j).
func (e Matrix) values(f func(i, j int) float64) blas64.General {
	m := matrix.New64(e.rows, e.cols)
	parallel.Ranges(e.rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range e.cols {
				m.Data[i*m.Stride+j] = f(i, j)
			}
		}
	})
	return m
}
