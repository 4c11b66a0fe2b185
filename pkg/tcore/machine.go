package tcore

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/internal/matrix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Machine computes matrix products as a library builds them around a [Device]. A
// product is computed in SplitK parts of K; the parts are added, and alpha and
// beta applied, in binary32, every operation rounded to nearest even:
//
//	D = fl_Output(fl(fl(alpha × S) + fl(beta × C))),  S = fl(… fl(S₀ + S₁) + …)
//
// where S_i is a chain of the device over part i, from zero and from left to
// right. All parts but the last have the same number of blocks, ⌈blocks/SplitK⌉.
// With beta = 0, C is not read. The zero values mean one part, and Output C.
type Machine struct {
	Name   string // what it is called, nothing of what it computes
	Device Device
	SplitK int
	Output Format
}

// GEMM stores D in d. Op(A) is a or, with blas.Trans, its transpose, and so is
// op(B). D may be c and must not overlap the others.
// It panics if a shape does not fit, a matrix is empty or SplitK is negative.
func (m Machine) GEMM(tA, tB blas.Transpose, alpha float32, a, b blas32.General, beta float32, c, d blas32.General) {
	a, b = transpose("a", tA, a), transpose("b", tB, b)
	checkProduct("GEMM", a, b)
	checkResult("GEMM", "d", a, b, d)
	if beta != 0 {
		checkResult("GEMM", "c", a, b, c)
	}
	if m.SplitK < 0 {
		panic(fmt.Sprintf("tcore: GEMM: SplitK = %d, want SplitK >= 0", m.SplitK))
	}
	m.Device.check("GEMM", a.Cols, b.Rows)
	if m.Output == (Format{}) {
		m.Output = m.Device.C
	}

	sum, part := matrix.New(a.Rows, b.Cols), matrix.New(a.Rows, b.Cols)
	length := m.partLength(m.Device.padded(a.Cols))
	for start := 0; start < a.Cols; start += length {
		end := min(start+length, a.Cols)
		m.Device.MultiplyAdd(matrix.Columns(a, start, end), matrix.Rows(b, start, end), blas32.General{}, part)
		if start == 0 {
			sum, part = part, sum
			continue
		}
		for i, v := range part.Data {
			sum.Data[i] += v
		}
	}
	m.finish(alpha, sum, beta, c, d)
}

// finish stores fl_Output(fl(fl(alpha × sum) + fl(beta × c))) in d.
func (m *Machine) finish(alpha float32, sum blas32.General, beta float32, c, d blas32.General) {
	for i := range sum.Rows {
		for j, v := range matrix.Row(sum, i) {
			z := float32(alpha * v) // a conversion, so that no compiler fuses it with the addition
			if beta != 0 {
				z += float32(beta * c.Data[i*c.Stride+j])
			}
			d.Data[i*d.Stride+j] = float32(m.Output.Round(float64(z), ToNearestEven))
		}
	}
}

// partLength returns the length of a part of K, whole blocks.
func (m *Machine) partLength(n int) int {
	w := m.Device.Core.width()
	parts := max(m.SplitK, 1)
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
	return matrix.Transpose(m)
}
