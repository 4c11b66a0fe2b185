package tolerance

import (
	"fmt"
	"math"

	"github.com/roundofflab/roundoff/internal/matrix"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// A doubt is a coarser arithmetic that an implementation may have.
type doubt struct {
	name, words string
	// product returns what it makes of A and B; nil if it cannot be emulated.
	product func(a, b blas32.General) []float64
}

// mostOutputs is how many rows and columns of the outputs are emulated.
const mostOutputs = 48

// doubts returns arithmetics that are coarser than that of the implementation.
func doubts(by Implementation) (all []doubt) {
	d := by.device()
	if d.ScaleBlock > 0 || d.C.Precision > tcore.Binary32.Precision {
		return nil
	}
	machine := func(m tcore.Machine) func(a, b blas32.General) []float64 {
		return func(a, b blas32.General) []float64 {
			z := matrix.New(a.Rows, b.Cols)
			m.GEMM(blas.NoTrans, blas.NoTrans, 1, a, b, 0, blas32.General{}, z)
			return matrix.Float64(z).Data
		}
	}
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16} {
		if f.Precision >= d.C.Precision {
			continue
		}
		if coarse, ok := summing(d, f); ok {
			all = append(all, doubt{"sums", "sums are rounded to " + f.Name + " after every instruction", machine(tcore.Machine{Device: coarse})})
		}
		for parts := 2; parts <= 32; parts *= 2 {
			all = append(all, doubt{"sums", fmt.Sprintf("the sums of parts of K, such as %d, are rounded to %s", parts, f.Name), inParts(d, parts, f)})
		}
	}
	if c, ok := d.Core.(tcore.Fused); ok && c.FractionBits > 13 {
		c.FractionBits, d.Core = 13, c
		all = append(all, doubt{"sums", "sums keep 13 fraction bits, as those of fp8 on Hopper", machine(tcore.Machine{Device: d})})
	}
	for _, f := range []tcore.Format{tcore.TF32, tcore.Binary16, tcore.BFloat16, tcore.E4M3, tcore.E5M2} {
		if f.Precision >= by.device().A.Precision && f.Precision >= by.device().B.Precision {
			continue
		}
		all = append(all, doubt{"factors", "A and B are rounded to " + f.Name, func(a, b blas32.General) []float64 {
			return matrix.Product64(rounded(a, f), rounded(b, f)).Data
		}})
	}
	for _, f := range []tcore.Format{tcore.Binary16, tcore.BFloat16} {
		if f.Precision < by.output().Precision {
			all = append(all, doubt{"output", "D is rounded to " + f.Name, func(a, b blas32.General) []float64 {
				return matrix.Map64(func(x float64) float64 { return f.Round(x, tcore.ToNearestEven) }, matrix.Product64(matrix.Float64(a), matrix.Float64(b))).Data
			}})
		}
	}
	return all
}

// summing returns the device with sums in another format.
func summing(d tcore.Device, f tcore.Format) (tcore.Device, bool) {
	d.C, d.NaN = f, 0
	switch c := d.Core.(type) {
	case tcore.Fused:
		c.Result = f
		d.Core = c
	case tcore.Chain, tcore.ExactSum:
	default:
		return d, false
	}
	return d, true
}

// inParts returns the product of a device in parts of K, whose sums are rounded
// to a format.
func inParts(d tcore.Device, parts int, f tcore.Format) func(a, b blas32.General) []float64 {
	return func(a, b blas32.General) []float64 {
		sum, next := make([]float64, a.Rows*b.Cols), matrix.New(a.Rows, b.Cols)
		length := partLength(tcore.Machine{Device: d, SplitK: parts}, a.Cols)
		for lo := 0; lo < a.Cols; lo += length {
			hi := min(a.Cols, lo+length)
			d.MultiplyAdd(matrix.Columns(a, lo, hi), matrix.Rows(b, lo, hi), blas32.General{}, next)
			for i, x := range next.Data {
				sum[i] = f.Round(sum[i]+f.Round(float64(x), tcore.ToNearestEven), tcore.ToNearestEven)
			}
		}
		return sum
	}
}

func rounded(m blas32.General, f tcore.Format) blas64.General {
	return matrix.Map64(func(x float64) float64 { return f.Round(x, tcore.ToNearestEven) }, matrix.Float64(m))
}

// alike is the correlation from which errors are the same ones, and sameSize
// the factor up to which two root mean squares are of one size.
const (
	alike    = 0.9
	sameSize = 1.5
)

// arithmetic finds coarser sums, factors and results, by the errors that they
// make of some rows and columns: the same errors, or where the order of
// additions is not known errors of that size.
func (s suspicion) arithmetic() (found []Cause) {
	rows, columns := subset(s.t.A, s.t.B, mostOutputs)
	a, b := blas32.General{Rows: len(rows), Cols: s.t.A.Cols, Stride: s.t.A.Cols}, matrix.New(s.t.B.Rows, len(columns))
	for _, i := range rows {
		a.Data = append(a.Data, matrix.Row(s.t.A, i)...)
	}
	for l := range b.Rows {
		for j, c := range columns {
			b.Data[l*b.Stride+j] = s.t.B.Data[l*s.t.B.Stride+c]
		}
	}
	exact := matrix.Product64(matrix.Float64(a), matrix.Float64(b)).Data
	errors := make([]float64, len(exact))
	for i := range errors {
		r, c := rows[i/len(columns)], columns[i%len(columns)]
		errors[i] = s.got.Data[r*s.got.Stride+c] - s.want.Data[r*s.want.Stride+c]
	}
	size := floats.Dot(errors, errors)
	if size == 0 || size-size != 0 {
		return nil
	}
	best, ofSize := Cause{}, Cause{}
	closest := math.Log(sameSize * sameSize)
	for _, d := range doubts(s.t.Implementation) {
		z := d.product(a, b)
		for i := range z {
			z[i] -= exact[i]
		}
		zz := floats.Dot(z, z)
		if zz == 0 || zz-zz != 0 {
			continue
		}
		if like := floats.Dot(z, errors) / math.Sqrt(size*zz); like > alike && like > best.Explains {
			best = Cause{d.name, d.words, like}
		}
		if off := math.Abs(math.Log(zz / size)); off < closest && d.name == "sums" {
			ofSize, closest = Cause{d.name, fmt.Sprintf("errors are as large as where %s", d.words), 1}, off
		}
	}
	if best.Explains > 0 {
		best.Explains = 1
		return []Cause{best}
	}
	if ofSize.Explains > 0 {
		return []Cause{ofSize}
	}
	return nil
}
