package tcore

import (
	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// tile is the number of columns of B in one tile: their sums are independent,
// and so hide the latency of each other's additions.
const tile = 8

// gemm computes AB. round converts the elements of a and b, kernel stores the
// inner products of a row x of A with the columns of a tile y of B, and store
// receives the results, from several goroutines at once. A is converted one row
// at a time, which needs no copy of A.
func gemm[T float32 | float64](a, b blas32.General, round func(dst []T, src []float32),
	kernel func(s *[tile]T, x []T, y [][tile]T), store func(i, j int, z T)) {

	tiles := packTiles(b, round)
	parallel.Ranges(a.Rows, func(lo, hi int) {
		var s [tile]T
		x := make([]T, a.Cols)
		for i := lo; i < hi; i++ {
			round(x, matrix.Row(a, i))
			for j, y := range tiles {
				kernel(&s, x, y)
				for c := range min(tile, b.Cols-j*tile) {
					store(i, j*tile+c, s[c])
				}
			}
		}
	})
}

// packTiles returns the columns of b in tiles, row by row, padded with zeros
// beyond the last column.
func packTiles[T float32 | float64](b blas32.General, round func(dst []T, src []float32)) [][][tile]T {
	tiles := make([][][tile]T, (b.Cols+tile-1)/tile)
	for j := range tiles {
		tiles[j] = make([][tile]T, b.Rows)
	}
	x := make([]T, b.Cols)
	for k := range b.Rows {
		round(x, matrix.Row(b, k))
		for j := range tiles {
			copy(tiles[j][k][:], x[j*tile:])
		}
	}
	return tiles
}

// columns is the kernel for any formats. It calls dot for one column at a time.
func (t TensorCore) columns(s *[tile]float64, x []float64, y [][tile]float64) {
	column := make([]float64, len(x))
	for c := range s {
		for k := range y {
			column[k] = y[k][c]
		}
		s[c] = t.dot(x, column)
	}
}

// isSequential32 reports whether Algorithm 1 is sequential binary32 arithmetic,
// whatever the block width.
func (t TensorCore) isSequential32() bool {
	return Binary32.contains(t.Low) && t.High.Equal(Binary32) &&
		t.Product.Equal(Binary32) && t.Accumulate.Equal(Binary32) && t.Output.Equal(Binary32)
}

// sequential computes s[c] = fl(s[c] + fl(x[k] y[k][c])) for k = 0, 1, …, in
// the arithmetic of T. Its eight sums are spelled out to stay in registers.
func sequential[T float32 | float64](s *[tile]T, x []T, y [][tile]T) {
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	y = y[:len(x)]
	for k, xk := range x {
		r := &y[k]
		s0 += T(xk * r[0])
		s1 += T(xk * r[1])
		s2 += T(xk * r[2])
		s3 += T(xk * r[3])
		s4 += T(xk * r[4])
		s5 += T(xk * r[5])
		s6 += T(xk * r[6])
		s7 += T(xk * r[7])
	}
	*s = [tile]T{s0, s1, s2, s3, s4, s5, s6, s7}
}

// isSequential16 reports whether Algorithm 1 is sequential accumulation of
// exact binary16 products in binary16, whatever the block width.
func (t TensorCore) isSequential16() bool {
	return t.Low.Equal(Binary16) && t.High.extends(Binary16) &&
		t.Product.extends(Binary16) && t.Product.containsProducts(t.Low) &&
		t.Accumulate.Equal(Binary16) && t.Output.Equal(Binary16)
}

// sequential16 is sequential in binary16.
func sequential16(s *[tile]float64, x []float64, y [][tile]float64) {
	*s = [tile]float64{}
	continue16(s, x, y)
}

// continue16 computes s[c] = fl16(s[c] + x[k] y[k][c]) for k = 0, 1, …, the sum
// in binary64 and then rounded to binary16. The double rounding is
// innocuous: s has at most 11 bits and is a multiple of 2^-24, the product p
// has at most 22.
//
//   - If s + p is a number of binary64, there is one rounding.
//   - If not, and |p| >= |s|, then |p| >= 2^28, and both roundings overflow.
//   - If not, and |p| < |s|, then |p| < 2^-30 |s|, and s + p lies so near to
//     s that both roundings give s.
func continue16(s *[tile]float64, x []float64, y [][tile]float64) {
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	y = y[:len(x)]
	for k, xk := range x {
		r := &y[k]
		s0 = round16(s0 + float64(xk*r[0]))
		s1 = round16(s1 + float64(xk*r[1]))
		s2 = round16(s2 + float64(xk*r[2]))
		s3 = round16(s3 + float64(xk*r[3]))
		s4 = round16(s4 + float64(xk*r[4]))
		s5 = round16(s5 + float64(xk*r[5]))
		s6 = round16(s6 + float64(xk*r[6]))
		s7 = round16(s7 + float64(xk*r[7]))
	}
	*s = [tile]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// Float64GEMM returns AB computed in binary64, from left to right: what the
// paper considers the actual result. The products of float32 elements are exact
// in binary64 and the sums are not; [ExactGEMM] returns the true result.
// It panics if a shape does not fit or a matrix is empty.
func Float64GEMM(a, b blas32.General) blas64.General {
	checkProduct("Float64GEMM", a, b)
	d := matrix.New64(a.Rows, b.Cols)
	if kernel, ok := chain64KernelFor(b.Cols); ok { // products are exact, so that sums are those of FMAs
		p := newSumsProduct(a, b, kernel, widenSlice, widenSlice)
		defer p.release()
		p.addTo(d.Data, d.Stride, nil, nil)
		return d
	}
	gemm(a, b, widenSlice, sequential[float64], func(i, j int, z float64) { d.Data[i*d.Stride+j] = z })
	return d
}

func roundSlice16(dst []float64, src []float32) {
	for i, x := range src {
		dst[i] = round16(float64(x))
	}
}

// narrowSlice stores src in dst, rounded to nearest even.
func narrowSlice(dst []float32, src []float64) {
	n := vectorNarrow(dst, src)
	for i, x := range src[n:] {
		dst[n+i] = float32(x)
	}
}

func widenSlice(dst []float64, src []float32) {
	n := vectorWiden(dst, src)
	for i, x := range src[n:] {
		dst[n+i] = float64(x)
	}
}
