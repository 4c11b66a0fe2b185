package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
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
// Elements are scaled to integers. If these have at most 63 bits and the sums
// of K products 127, vector instructions of AVX512-VNNI or AVX2 add products of
// their digits in base 2^12. Multiples of 2^-24 from -1 to 1 have two digits;
// of n digits, a product takes n²/4 times as long. Digits that few elements
// need are not counted: numbers from N(0,1) in binary16 also have two. With
// AVX2, integers of three digits whose products have at most 58 bits are
// multiplied as they are. Without vector instructions the product takes many
// times longer. Integers and sums of more bits are added in as many 64-bit
// limbs as they need, which takes longer still (Kulisch 2013, the exact dot
// product).
func GEMM(a, b blas32.General) (Matrix, error) {
	e, err := gemm("GEMM", factor{General: a}, factor{General: b}, signed)
	return e[signed], err
}

// AbsGEMM returns |A||B|. Its elementwise quotient by |AB| is the paper's
// condition number. The error and the panics are those of [GEMM].
func AbsGEMM(a, b blas32.General) (Matrix, error) {
	e, err := gemm("AbsGEMM", factor{General: a}, factor{General: b}, absolute)
	return e[absolute], err
}

// GEMMs returns AB and |A||B|, in less time than [GEMM] and [AbsGEMM] need. The
// error and the panics are those of [GEMM].
func GEMMs(a, b blas32.General) (ab, abs Matrix, err error) {
	return GEMMsOf(a, b, nil, nil)
}

// GEMMsOf is [GEMMs] of converted matrices: fa stores in dst the elements of
// src, a part of a row of a, converted, and fb does so for b. It may be called
// more than once for an element, and concurrently. nil converts nothing. The
// error names a converted element.
func GEMMsOf(a, b blas32.General, fa, fb func(dst, src []float32)) (ab, abs Matrix, err error) {
	e, err := gemm("GEMMs", factor{a, fa}, factor{b, fb}, signed, absolute)
	return e[signed], e[absolute], err
}

// factor is a matrix whose elements are converted when they are used.
type factor struct {
	blas32.General
	convert func(dst, src []float32) // nil if they are not
}

// adjacent reports whether the elements of a row follow those of the row before
// and are not converted.
func (f factor) adjacent() bool { return f.convert == nil && f.Stride == f.Cols }

// part returns converted elements lo to hi of row i, which may be in buffer. If
// rows are adjacent, hi may be in a row below.
func (f factor) part(buffer []float32, i, lo, hi int) []float32 {
	x := f.Data[i*f.Stride:][lo:hi]
	if f.convert == nil {
		return x
	}
	f.convert(buffer[:hi-lo], x)
	return buffer[:hi-lo]
}

// buffer returns memory for parts of up to n elements.
func (f factor) buffer(n int) []float32 {
	if f.convert == nil {
		return nil
	}
	return make([]float32, n)
}

// converted returns the matrix.
func (f factor) converted() blas32.General {
	if f.convert == nil {
		return f.General
	}
	z := matrix.New(f.Rows, f.Cols)
	parallel.Ranges(f.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f.part(matrix.Row(z, i), i, 0, f.Cols)
		}
	})
	return z
}

// A kind is one of the products AB and |A||B|.
type kind int

const (
	signed kind = iota
	absolute
	kinds // their number
)

// of returns the element x of a factor, or its magnitude.
func (p kind) of(x float32) float32 {
	if p == absolute {
		return float32(math.Abs(float64(x)))
	}
	return x
}

// integer returns x × scale, or its magnitude, an integer.
func (p kind) integer(x float32, scale float64) int64 { return int64(float64(p.of(x)) * scale) }

// fewestForDigits is the least size of products by digits: at least one of M,
// K and N. Smaller products take less time than the storage of digits.
var fewestForDigits = 64

// gemm returns the products of the given kinds.
func gemm(call string, fa, fb factor, list ...kind) (e [kinds]Matrix, err error) {
	matrix.CheckProduct("exact", call, fa.General, fb.General)
	b := fb.converted()
	gb, errB := gridOf("b", factor{General: b})
	sumBits := bitsOfSum(b, gb)
	var digits digitProduct
	large := max(fa.Rows, fa.Cols, b.Cols) >= fewestForDigits
	taken := errB == nil && large && takeDigits(fa, b, gb, list)
	if taken {
		digits = newDigitProduct(b, gb, sumBits, list)
		if e, ok := digits.inOnePass(fa); ok {
			return e, nil
		}
	}
	ga, err := gridOf("a", fa)
	if err != nil {
		return e, err
	}
	if errB != nil {
		return e, errB
	}

	need := sumBits(ga)
	z := Matrix{rows: fa.Rows, cols: b.Cols, exp: ga.low + gb.low, limbs: (need + 63) / 64}
	narrow := need <= 128 && ga.bits() < 64 && gb.bits() < 64
	if !narrow {
		z.limbs = need/64 + 2
	}
	e = z.zeros(list)
	if narrow && large && !taken && !hasIntegerSums(ga, gb) {
		digits = newDigitProduct(b, gb, sumBits, list)
	}
	if narrow && digits.onGrid(e, fa, ga) {
		return e, nil
	}
	a := fa.converted()
	for _, p := range list {
		switch {
		case !narrow:
			product(e[p], a, b, ga.terms(p), gb.terms(p), dotWide)
		case hasIntegerSums(ga, gb):
			integerSums(e[p], a, b, ga, gb, p == absolute)
		default:
			product(e[p], a, b, ga.integers(p), gb.integers(p), dot128)
		}
	}
	return e, nil
}

// bitsOfSum returns how many bits a sum of products needs, of elements on a
// grid a by elements of b, on the grid g: one for the sign, and n if |sum| <
// 2^n in units of both grids. With K terms that is so if n is the bits of K - 1
// and of both elements. If these are more than a limb holds, n is that of the
// greatest element of a times the greatest sum of magnitudes of a column of b,
// computed in binary64 and increased by more than its error.
func bitsOfSum(b blas32.General, g grid) func(a grid) int {
	greatestSum := sync.OnceValue(func() float64 {
		sums := make([]float64, b.Cols)
		for k := range b.Rows {
			for j, x := range matrix.Row(b, k) {
				sums[j] += math.Abs(float64(x))
			}
		}
		return slices.Max(sums) * (1 + 0x1p-10)
	})
	return func(a grid) int {
		n := a.bits() + g.bits() + bits.Len(uint(b.Rows-1))
		if n >= 64 {
			_, exp := math.Frexp(a.greatest * greatestSum())
			n = min(n, max(0, exp-a.low-g.low))
		}
		return n + 1
	}
}

// zeros returns matrices like e, of zeros.
func (e Matrix) zeros(list []kind) (z [kinds]Matrix) {
	for _, p := range list {
		z[p] = e
		z[p].data = make([]uint64, e.limbs*e.rows*e.cols)
	}
	return z
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

// dot128 stores the inner product of x and y in the one or two limbs of z.
func dot128(z []uint64, x, y []int64) {
	var high, low, carry uint64
	y = y[:len(x)]
	for k, xk := range x {
		yk := y[k]
		hi, lo := signedProduct(xk, yk)
		low, carry = bits.Add64(low, lo, 0)
		high += hi + carry
	}
	z[0] = low
	if len(z) == 2 {
		z[1] = high
	}
}

// signedProduct returns the 128 bits of xy.
func signedProduct(x, y int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(x), uint64(y))
	return hi - uint64(x>>63&y) - uint64(y>>63&x), lo // unsigned to signed
}

// dotWide stores the inner product of x and y in the limbs of z.
func dotWide(z []uint64, x, y []term) {
	for k := range x {
		if sig := x[k].sig * y[k].sig; sig != 0 {
			limbs.AddShifted(z, sig, uint(x[k].shift)+uint(y[k].shift))
		}
	}
}

// grid is the coarsest fixed-point grid that contains the elements of a matrix:
// every element is a multiple of 2^low.
type grid struct {
	low      int
	greatest float64 // magnitude of an element
}

// bits returns the least n for which all elements are less than 2^(low+n) in
// magnitude.
func (g grid) bits() int {
	_, exp := math.Frexp(g.greatest)
	return max(0, exp-g.low)
}

// gridOf returns the grid of the matrix called name, or an error that names
// its first element that is not finite.
func gridOf(name string, m factor) (grid, error) {
	g := noGrid
	var mu sync.Mutex
	bad := m.Rows
	parallel.Ranges(m.Rows, func(lo, hi int) {
		part, buffer := noGrid, m.buffer(m.Cols)
		step := 1 // rows at once
		if m.adjacent() {
			step = hi - lo
		}
		for i := lo; i < hi; i += step {
			one, nonFinite := gridOfRow(m.part(buffer, i, 0, step*m.Cols))
			if nonFinite >= 0 {
				mu.Lock()
				defer mu.Unlock()
				bad = min(bad, i+nonFinite/m.Cols)
				return
			}
			part = part.union(one)
		}
		mu.Lock()
		defer mu.Unlock()
		g = g.union(part)
	})
	if bad < m.Rows {
		row := m.part(m.buffer(m.Cols), bad, 0, m.Cols)
		_, j := gridOfRow(row)
		return g, fmt.Errorf("exact: %s[%d, %d] = %v, want a finite number", name, bad, j, row[j])
	}
	if g == noGrid { // all zeros
		return grid{}, nil
	}
	return g, nil
}

// noGrid is the grid of a matrix of zeros.
var noGrid = grid{low: math.MaxInt}

// union returns the coarsest grid that contains both grids.
func (g grid) union(h grid) grid {
	return grid{min(g.low, h.low), max(g.greatest, h.greatest)}
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
			g = g.union(grid{v.exp + bits.TrailingZeros64(v.sig), math.Abs(float64(x))})
		default:
			return g, n + j
		}
	}
	return g, -1
}

// integers returns the conversion of elements, or of their magnitudes, to
// integer multiples of 2^low.
func (g grid) integers(p kind) func(float32) int64 {
	scale := math.Ldexp(1, -g.low)
	return func(x float32) int64 { return p.integer(x, scale) }
}

// term is the number sig × 2^shift in units of 2^low.
type term struct {
	sig   int64
	shift int
}

// terms returns the conversion of elements, or of their magnitudes, to terms.
func (g grid) terms(p kind) func(float32) term {
	return func(x float32) term {
		if x == 0 {
			return term{}
		}
		v := unpack(float64(p.of(x)))
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
	unit := exp2(e.exp)
	return e.values(func(z []float64, i int) {
		if e.limbs == 1 {
			for j, n := range e.data[i*e.cols:][:e.cols] {
				z[j] = float64(int64(n)) * unit
			}
			return
		}
		for j := range z {
			z[j] = e.float64(i, j)
		}
	})
}

// float64 returns an element rounded to binary64.
func (e Matrix) float64(i, j int) float64 {
	if z, ok := e.short(i, j); ok {
		return z.float64(e.exp)
	}
	x, _ := e.At(i, j).Float64()
	return x
}

// Error returns D - E, the error of a computed d: subtracted exactly, then
// rounded once to binary64. Where d is NaN or infinite, the error is that
// value. It panics if the shapes differ, or if d is empty or its data are too
// short.
func (e Matrix) Error(d blas32.General) blas64.General {
	matrix.Check("exact", "Error", "d", d)
	e.checkShape("Error", d.Rows, d.Cols)
	return e.values(func(z []float64, i int) {
		for j, x := range matrix.Row(d, i) {
			z[j] = float64(x)
		}
		e.errors(z, i)
	})
}

// Error64 is [Matrix.Error] for a matrix d in binary64.
func (e Matrix) Error64(d blas64.General) blas64.General {
	if d.Rows < 1 || d.Cols < 1 || d.Stride < d.Cols || !matrix.Holds(len(d.Data), d.Rows, d.Cols, d.Stride) {
		panic(fmt.Sprintf("exact: Error64: d is %d × %d of stride %d with %d elements", d.Rows, d.Cols, d.Stride, len(d.Data)))
	}
	e.checkShape("Error64", d.Rows, d.Cols)
	return e.values(func(z []float64, i int) {
		copy(z, d.Data[i*d.Stride:])
		e.errors(z, i)
	})
}

// checkShape panics unless a matrix of the given shape has the shape of e.
func (e Matrix) checkShape(call string, rows, cols int) {
	if rows != e.rows || cols != e.cols {
		panic(fmt.Sprintf("exact: %s: d is %d × %d, want %d × %d", call, rows, cols, e.rows, e.cols))
	}
}

// errors subtracts row i from z.
func (e Matrix) errors(z []float64, i int) {
	unit, units := exp2(e.exp), exp2(-e.exp)
	for j, x := range z {
		if e.limbs == 1 {
			// In units of 2^exp, both are integers and so is their difference.
			y, x := int64(e.data[i*e.cols+j]), x*units
			if n := int64(x); math.Abs(x) < 1<<61 && float64(n) == x && -1<<61 < y && y < 1<<61 {
				z[j] = float64(n-y) * unit
				continue
			}
		}
		z[j] = e.errorAt(i, j, x)
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

// values returns a matrix of the shape of e whose row i is set by row(z, i).
func (e Matrix) values(row func(z []float64, i int)) blas64.General {
	m := matrix.New64(e.rows, e.cols)
	parallel.Ranges(e.rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row(m.Data[i*m.Stride:][:e.cols], i)
		}
	})
	return m
}
