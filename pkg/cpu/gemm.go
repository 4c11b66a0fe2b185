package cpu

import (
	"fmt"
	"math"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

var _ tcore.GEMMer = &Unit{}

// GEMM stores D = alpha op(A) op(B) + beta C in d, with the bits of
// [tcore.Machine.GEMM] for the device of the unit, except for the payloads of
// NaN. op(A) is a if tA is blas.NoTrans, its transpose if tA is blas.Trans, and
// the same for op(B). Their elements are rounded to the formats of the device,
// to nearest even, and so is D if that is not binary32. With beta = 0, C is not
// read. d may be c and must not overlap the others.
//
// It runs on GOMAXPROCS goroutines, and its result does not depend on their
// number. It panics if a shape does not fit, a matrix is empty, or tA or tB is
// another value.
func (u *Unit) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	k := u.opened("GEMM")
	a, b = transposed("a", tA, a), transposed("b", tB, b)
	matrix.CheckProduct("cpu", "GEMM", a, b)
	checkResult("d", a, b, d)
	if beta != 0 {
		checkResult("c", a, b, c)
	}
	finish := k.finish(alpha, beta, c, d)
	if k.bytes != nil {
		integers := view[int32]{a.Rows, b.Cols, b.Cols, make([]int32, a.Rows*b.Cols)}
		multiply(k.bytes, codesOf(k.device.A, a), codesOf(k.device.B, b), integers, nil)
		finishRows(integers, func(i, j int, sums view[int32]) { finish(i, j, inBinary32(sums)) })
		return
	}
	if k.tiles == nil {
		sums := k.product(a, b)
		finishRows(view[float32]{a.Rows, b.Cols, sums.Stride, sums.Data}, finish)
		return
	}
	if alpha == 1 && beta == 0 {
		finish = nil
	}
	multiply(k.tiles, viewOf(a), viewOf(b), viewOf(d), finish)
}

// GEMMCodes is GEMM of factors given as codes of the formats of the device,
// without scales: D = alpha AB + beta C. Those of bfloat16 are not converted
// where the unit multiplies them in tiles. It panics if a shape does not fit, a
// matrix is empty, there are scales, or codes are not in Data or Data16 as
// their format has it.
func (u *Unit) GEMMCodes(alpha float32, a, b tcore.Codes, beta float32, c, d blas32.General) {
	const call = "GEMMCodes"
	k := u.opened(call)
	checkCodes(call, "a", k.device.A, a)
	checkCodes(call, "b", k.device.B, b)
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("cpu: GEMMCodes: a is %d × %d, b is %d × %d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if k.codes == nil {
		u.GEMM(blas.NoTrans, blas.NoTrans, alpha, decoded(k.device.A, a), decoded(k.device.B, b), beta, c, d)
		return
	}
	shape := func(name string, m blas32.General) {
		matrix.Check("cpu", call, name, m)
		if m.Rows != a.Rows || m.Cols != b.Cols {
			panic(fmt.Sprintf("cpu: GEMMCodes: %s is %d × %d, want %d × %d", name, m.Rows, m.Cols, a.Rows, b.Cols))
		}
	}
	shape("d", d)
	if beta != 0 {
		shape("c", c)
	}
	finish := k.finish(alpha, beta, c, d)
	if alpha == 1 && beta == 0 {
		finish = nil
	}
	multiply(k.codes, view[uint16]{a.Rows, a.Cols, a.Cols, a.Data16}, view[uint16]{b.Rows, b.Cols, b.Cols, b.Data16}, viewOf(d), finish)
}

// decoded returns the numbers of f that the codes represent.
func decoded(f tcore.Format, m tcore.Codes) blas32.General {
	z := matrix.New(m.Rows, m.Cols)
	parallel.Ranges(m.Rows*m.Cols, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if f.Bits() <= 8 {
				z.Data[i] = float32(f.Decode(uint64(m.Data[i])))
			} else {
				z.Data[i] = float32(f.Decode(uint64(m.Data16[i])))
			}
		}
	})
	return z
}

// finish returns the function that stores alpha times a block of sums, whose
// first is that of row i and column j, plus beta C in d.
func (k *kernel) finish(alpha, beta float32, c, d blas32.General) func(i, j int, sums view[float32]) {
	return func(i, j int, sums view[float32]) {
		for r := range sums.rows {
			row := d.Data[(i+r)*d.Stride+j:][:sums.cols]
			for l, v := range sums.data[r*sums.stride:][:sums.cols] {
				z := float32(alpha * v) // a conversion, so that no compiler fuses it with the addition
				if beta != 0 {
					z += float32(beta * c.Data[(i+r)*c.Stride+j+l])
				}
				if out := k.device.C; !out.Equal(tcore.Binary32) {
					z = float32(out.Round(float64(z), tcore.ToNearestEven))
				}
				row[l] = z
			}
		}
	}
}

// inBinary32 returns the integers, rounded to binary32.
func inBinary32(m view[int32]) view[float32] {
	z := view[float32]{m.rows, m.cols, m.cols, make([]float32, m.rows*m.cols)}
	for i := range m.rows {
		for j, v := range m.data[i*m.stride:][:m.cols] {
			z.data[i*z.stride+j] = float32(v)
		}
	}
	return z
}

// finishRows calls finish for parts of all rows of sums.
func finishRows[T any](sums view[T], finish func(i, j int, sums view[T])) {
	parallel.Ranges(sums.rows, func(lo, hi int) {
		finish(lo, 0, view[T]{hi - lo, sums.cols, sums.stride, sums.data[lo*sums.stride:]})
	})
}

func viewOf(m blas32.General) view[float32] {
	return view[float32]{m.Rows, m.Cols, m.Stride, m.Data}
}

// product returns AB, and perhaps more rows and columns.
func (k *kernel) product(a, b blas32.General) blas32.General {
	if k.lanes != nil {
		return k.laneProduct(a, b)
	}
	p := newProduct(k, a, b)
	for l := 0; l < a.Cols; l += depth {
		p.add(l, min(l+depth, a.Cols))
	}
	return p.sums
}

// codesOf returns the codes of elements of m that are rounded to f, int8 or
// uint8.
func codesOf(f tcore.Format, m blas32.General) view[uint8] {
	z := view[uint8]{m.Rows, m.Cols, m.Cols, make([]uint8, m.Rows*m.Cols)}
	parallel.Ranges(m.Rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, x := range matrix.Row(m, i) {
				z.data[i*m.Cols+j] = uint8(f.Encode(float64(x), tcore.ToNearestEven))
			}
		}
	})
	return z
}

// MultiplyCodes stores AB in d, row by row, for factors given as codes of the
// formats of the device, which must be one of integers: the sums modulo 2^32 of
// [tcore.WrappedSum]. It runs on GOMAXPROCS goroutines. It panics if a shape
// does not fit, a matrix is empty, there are scales, or the device is another
// one.
func (u *Unit) MultiplyCodes(a, b tcore.Codes, d []int32) {
	k := u.opened("MultiplyCodes")
	if k.bytes == nil {
		panic(fmt.Sprintf("cpu: MultiplyCodes: %s multiplies %s, want integers", k.device.Name, k.device.A.Name))
	}
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("cpu: MultiplyCodes: a is %d × %d, b is %d × %d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	checkCodes("MultiplyCodes", "a", k.device.A, a)
	checkCodes("MultiplyCodes", "b", k.device.B, b)
	if len(d) != a.Rows*b.Cols {
		panic(fmt.Sprintf("cpu: MultiplyCodes: d has %d elements, want %d", len(d), a.Rows*b.Cols))
	}
	multiply(k.bytes, view[uint8]{a.Rows, a.Cols, a.Cols, a.Data}, view[uint8]{b.Rows, b.Cols, b.Cols, b.Data},
		view[int32]{a.Rows, b.Cols, b.Cols, d}, nil)
}

// checkCodes panics unless m is a matrix of codes of f without scales.
func checkCodes(call, name string, f tcore.Format, m tcore.Codes) {
	bytes, words := m.Rows*m.Cols, 0
	if f.Bits() > 8 {
		bytes, words = 0, bytes
	}
	switch {
	case m.Rows < 1 || m.Cols < 1:
		panic(fmt.Sprintf("cpu: %s: %s is %d × %d, want at least 1 × 1", call, name, m.Rows, m.Cols))
	case f.Bits() > 16:
		panic(fmt.Sprintf("cpu: %s: %s has codes of %s, want a format of at most 16 bits", call, name, f.Name))
	case len(m.Data) != bytes:
		panic(fmt.Sprintf("cpu: %s: %s.Data has %d elements, want %d", call, name, len(m.Data), bytes))
	case len(m.Data16) != words:
		panic(fmt.Sprintf("cpu: %s: %s.Data16 has %d elements, want %d", call, name, len(m.Data16), words))
	case len(m.Scales) > 0:
		panic(fmt.Sprintf("cpu: %s: %s has scales, want none", call, name))
	}
}

// transposed returns op(m).
func transposed(name string, t blas.Transpose, m blas32.General) blas32.General {
	matrix.Check("cpu", "GEMM", name, m)
	switch t {
	case blas.NoTrans:
		return m
	case blas.Trans:
		return matrix.Transpose(m)
	}
	panic(fmt.Sprintf("cpu: GEMM: t%s = %c, want NoTrans or Trans", strings.ToUpper(name), t))
}

// checkResult panics unless m has the shape of AB.
func checkResult(name string, a, b, m blas32.General) {
	matrix.Check("cpu", "GEMM", name, m)
	if m.Rows != a.Rows || m.Cols != b.Cols {
		panic(fmt.Sprintf("cpu: GEMM: %s is %d × %d, want %d × %d", name, m.Rows, m.Cols, a.Rows, b.Cols))
	}
}

// depth is the number of products that are added in one call of a kernel, which
// is not interrupted for the garbage collector.
const depth = 4096

// product is AB, computed in tiles.
type product struct {
	kernel *kernel
	a, b   blas32.General
	sums   blas32.General // in whole tiles
	panels []uint16       // of b: a row of tiles for every 16 columns
}

func newProduct(k *kernel, a, b blas32.General) *product {
	p := &product{kernel: k, a: a, b: b, sums: matrix.New(whole(a.Rows, side), whole(b.Cols, side))}
	p.panels = make([]uint16, p.sums.Cols*whole(min(a.Cols, depth), 2*tilePairs))
	return p
}

// whole returns n rounded up to a multiple of part.
func whole(n, part int) int { return (n + part - 1) / part * part }

// add adds the products [lo, hi) to all sums.
func (p *product) add(lo, hi int) {
	n := whole(hi-lo, 2*tilePairs)
	parallel.Ranges(p.sums.Cols/side, func(first, end int) {
		row := make([]uint16, hi-lo)
		for j := first * side; j < end*side; j++ {
			panel := p.panels[j/side*side*n:][:side*n]
			p.kernel.rounded(row, p.b, lo, j, p.b.Stride, j < p.b.Cols)
			for l := range n {
				panel[l/(2*tilePairs)*tileSize+atPair(l%(2*tilePairs), j%side)] = at(row, l)
			}
		}
	})
	pairs := whole(hi-lo, 2*p.kernel.pairs) / 2
	parallel.Ranges(p.sums.Rows/side, func(first, end int) {
		row, strip := make([]uint16, hi-lo), make([]uint16, side*n)
		for t := first; t < end; t++ {
			for i := range side {
				p.kernel.rounded(row, p.a, t*side+i, lo, 1, t*side+i < p.a.Rows)
				for l := range n {
					strip[l/(2*tilePairs)*tileSize+i*2*tilePairs+l%(2*tilePairs)] = at(row, l)
				}
			}
			for j := 0; j < p.sums.Cols; j += side {
				p.kernel.run(&p.sums.Data[t*side*p.sums.Stride+j], 4*p.sums.Stride, &strip[0], &p.panels[j*n], pairs)
			}
		}
	})
}

// rounded stores in dst the codes of elements of m, rounded to the format of
// the factors, binary16 or bfloat16, from row i and column j on and step apart;
// zeros if they are outside of m. A NaN is quiet, so that it is one with the
// leading bits alone.
func (k *kernel) rounded(dst []uint16, m blas32.General, i, j, step int, inside bool) {
	clear(dst)
	if !inside {
		return
	}
	x := make([]float32, len(dst))
	for l := range x {
		x[l] = m.Data[i*m.Stride+j+l*step]
	}
	if k.device.A.Equal(tcore.Binary16) {
		for l, v := range x {
			dst[l] = half(v)
		}
		return
	}
	tcore.BFloat16.RoundSlice32(x, x)
	for l, v := range x {
		if dst[l] = uint16(math.Float32bits(v) >> 16); v != v {
			dst[l] |= 1 << 6
		}
	}
}

// at returns x[l], or 0 beyond its end.
func at(x []uint16, l int) uint16 {
	if l < len(x) {
		return x[l]
	}
	return 0
}
