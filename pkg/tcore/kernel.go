package tcore

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/parallel"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// GEMM stores in z the matrix C + AB as the device computes it: every element
// is the [Device.Dot] of a row of a, a column of b and an element of c. The
// matrices are row-major, a is M × K, b is K × N, c and z are M × N. A c without
// elements, the zero value, stands for zeros; z may be c and must not overlap
// the others.
//
// It runs on GOMAXPROCS goroutines; the result does not depend on how many. A
// result in a format wider than binary32 is rounded once more, to binary32.
// It panics if a shape does not fit or a matrix is empty.
func (d Device) GEMM(a, b, c, z blas32.General) {
	checkProduct("GEMM", a, b)
	checkResult("GEMM", "z", a, b, z)
	if c.Data != nil {
		checkResult("GEMM", "c", a, b, c)
	}
	d.check("GEMM", a.Cols, b.Rows)
	if core, ok := d.Core.(TensorCore); ok && c.Data == nil && a.Cols%core.Block == 0 && d.representsAs(core) {
		core.GEMM(a, b, z)
		return
	}

	if p, ok := newThinProduct(&d, a, b); ok {
		p.multiply(c, z)
		p.turned.leaveRows()
		return
	}

	m := d.newMultiplier(a, b)
	defer m.release()
	rows(a.Rows, b.Cols, func(part [][]float64, lo, hi int) {
		for i := lo; i < hi && c.Data != nil; i++ {
			for j, v := range row(c, i) {
				part[i-lo][j] = d.C.Round(float64(v), ToNearestEven)
			}
		}
		m.multiply(part, lo, hi, 0, d.padded(a.Cols))
		for i := lo; i < hi; i++ {
			for j, v := range part[i-lo] {
				z.Data[i*z.Stride+j] = float32(v)
			}
		}
	})
}

// representsAs reports whether d and t convert factors alike.
func (d *Device) representsAs(t TensorCore) bool {
	return d.A.same(t.Low) && d.B.same(t.Low) && d.Convert == ToNearestEven
}

// Kernel is a GEMM as a library builds it around a [Device]. A product is
// computed in SplitK parts of K; the parts are added, and alpha and beta
// applied, in binary32, every operation rounded to nearest even:
//
//	D = fl_Output(fl(fl(alpha × S) + fl(beta × C))),  S = fl(… fl(S₀ + S₁) + …)
//
// where S_i is a chain of the device over part i, from zero and from left to
// right. All parts but the last have the same number of blocks, ⌈blocks/SplitK⌉.
// With beta = 0, C is not read. The zero values mean one part, and Output C.
type Kernel struct {
	Device
	SplitK int
	Output Format
}

// GEMM stores D in d. Op(A) is a or, with blas.Trans, its transpose, and so is
// op(B). D may be c and must not overlap the others.
// It panics if a shape does not fit, a matrix is empty or SplitK is negative.
func (k Kernel) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	a, b = transpose("a", tA, a), transpose("b", tB, b)
	checkProduct("GEMM", a, b)
	checkResult("GEMM", "d", a, b, d)
	if beta != 0 {
		checkResult("GEMM", "c", a, b, c)
	}
	if k.SplitK < 0 {
		panic(fmt.Sprintf("tcore: GEMM: SplitK = %d, want SplitK >= 0", k.SplitK))
	}
	k.check("GEMM", a.Cols, b.Rows)
	if k.Output == (Format{}) {
		k.Output = k.C
	}

	sum, part := newGeneral32(a.Rows, b.Cols), newGeneral32(a.Rows, b.Cols)
	length := k.partLength(k.padded(a.Cols))
	for start := 0; start < a.Cols; start += length {
		end := min(start+length, a.Cols)
		k.Device.GEMM(columnsOf(a, start, end), rowsOf(b, start, end), blas32.General{}, part)
		if start == 0 {
			sum, part = part, sum
			continue
		}
		for i, v := range part.Data {
			sum.Data[i] += v
		}
	}
	k.finish(alpha, sum, beta, c, d)
}

// finish stores fl_Output(fl(fl(alpha × sum) + fl(beta × c))) in d.
func (k *Kernel) finish(alpha float32, sum blas32.General, beta float32, c, d blas32.General) {
	for i := range sum.Rows {
		for j, v := range row(sum, i) {
			z := float32(alpha * v)
			if beta != 0 {
				z += float32(beta * c.Data[i*c.Stride+j])
			}
			d.Data[i*d.Stride+j] = float32(k.Output.Round(float64(z), ToNearestEven))
		}
	}
}

// partLength returns the length of a part of K, whole blocks.
func (k *Kernel) partLength(n int) int {
	w := k.Core.width()
	parts := max(k.SplitK, 1)
	return (n/w + parts - 1) / parts * w
}

// transpose returns op(m).
func transpose(name string, t blas.Transpose, m blas32.General) blas32.General {
	checkMatrix("GEMM", name, m)
	switch t {
	case blas.NoTrans:
		return m
	case blas.Trans:
	default:
		panic(fmt.Sprintf("tcore: GEMM: t%s = %c, want NoTrans or Trans", strings.ToUpper(name), t))
	}
	return transposed(m)
}

func transposed(m blas32.General) blas32.General {
	z := newGeneral32(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range row(m, i) {
			z.Data[j*z.Stride+i] = v
		}
	}
	return z
}

// rows calls work for all rows of an M × N result, a few at a time on every
// goroutine, with zeros to compute them in.
func rows(m, n int, work func(z [][]float64, lo, hi int)) {
	const few = 8
	parallel.Ranges(m, func(lo, hi int) {
		z := newRows(few, n)
		for ; lo < hi; lo += few {
			clearRows(z)
			work(z[:min(few, hi-lo)], lo, min(lo+few, hi))
		}
	})
}

func newRows(m, n int) [][]float64 {
	z := make([][]float64, m)
	for i := range z {
		z[i] = make([]float64, n)
	}
	return z
}

func clearRows(z [][]float64) {
	for i := range z {
		clear(z[i])
	}
}
